// A program of Handrail's own is found beside what starts it, in sources and in compiled code.
import { expect, test } from "vitest";
import { ownProgram } from "../../src/names/own-program.ts";

test.each([
  ["sources", "file:///p/src/server/admin/admin-port.ts", "file:///p/src/server/ledger/verify-worker.ts"],
  ["compiled code", "file:///p/lib/admin-port-Bx1.js", "file:///p/lib/verify-worker.js"],
])("%s: a program lies beside what starts it", (_, module, expected) => {
  expect(ownProgram(module, "../ledger/verify-worker.ts").href).toBe(expected);
});
