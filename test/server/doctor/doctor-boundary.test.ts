// `handrail doctor` says whether the kernel runs under an account of its own.
import { expect, test } from "vitest";
import { boundaryFinding } from "../../../src/server/doctor/doctor-boundary.ts";

const ACCOUNTS = [
  "root:x:0:0:root:/root:/usr/sbin/nologin",
  "handrail:x:990:990::/var/lib/handrail:/usr/sbin/nologin",
  "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin",
  "me:x:1000:1000::/home/me:/bin/bash",
].join("\n");

test("an account that nobody logs in to enforces", () => {
  expect(boundaryFinding(990, [], ACCOUNTS)).toMatchObject({
    status: "ok",
    detail: expect.stringContaining("enforced: `handrail`"),
  });
});

test.each([[0], [65_534], [1000], [4711], [undefined]])(
  "account %s does not, and the finding says what to do",
  (uid) => {
    expect(boundaryFinding(uid, [], ACCOUNTS)).toMatchObject({
      status: "advisory",
      fix: expect.stringContaining("handrail mcp --connect"),
    });
  },
);

test("a client that is attended is a way round: whoever has the session's token can claim its name", () => {
  expect(boundaryFinding(990, ["my-editor"], ACCOUNTS)).toMatchObject({
    status: "advisory",
    detail: expect.stringContaining("attended client my-editor"),
    fix: expect.stringContaining("approvals.attended_clients"),
  });
});
