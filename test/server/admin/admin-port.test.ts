// Closing what administration opened, also when it could not be opened.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { adminPort } from "../../../src/server/admin/admin-port.ts";
import type { OpenKernel } from "../../../src/server/compose.ts";

test("a ledger that cannot be opened does not keep administration from closing, and nothing is opened afterwards", async () => {
  const stateDirectory = mkdtempSync(join(tmpdir(), "handrail-admin-"));
  onTestFinished(() => rmSync(stateDirectory, { recursive: true, force: true }));
  writeFileSync(
    join(stateDirectory, "ledger.db"),
    "this is no database, only text that is as long as a header of one".repeat(20),
  );
  const port = adminPort({ stateDirectory, administration: {} } as unknown as OpenKernel);
  const asked = port.entries(0, 1).catch((error: unknown) => error);
  await expect(port.close()).resolves.toBeUndefined();
  expect(await asked).toBeInstanceOf(Error);
  await expect(port.entries(0, 1)).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
});
