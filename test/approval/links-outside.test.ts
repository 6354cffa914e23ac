// Links that a command makes: one that leads out of the workspace is asked about, whatever its own place is.
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readApprovalDocument } from "../../src/model/approval/approval-document.ts";
import { shell } from "../../src/tools/shell/shell.ts";
import { askingKernel, pending, refuse } from "../support/asking.ts";

const COMMAND =
  "echo own > own.txt; ln -s own.txt in; ln -s /usr/bin/env system; ln -s /etc/passwd out; mkdir d; ln -s ../../.ssh d/up";

test("links out of the workspace land once a person agrees, others by themselves", async () => {
  const kernel = await askingKernel({ tools: [shell] });
  const asked = kernel.call("shell", { command: COMMAND });
  const { ref, document } = await pending(kernel);
  const { details } = readApprovalDocument(ref, document ?? "") ?? {};
  expect(details).toMatchObject({
    rules: [{ ruleId: "LINK:outside" }],
    accesses: [{ path: "d/up" }, { path: "out" }],
    changes: [
      { diff: expect.stringContaining("link to ../../.ssh") },
      { diff: expect.stringContaining("link to /etc/passwd") },
    ],
  });
  await refuse(kernel, ref);
  expect((await asked).outcome).toMatchObject({
    data: {
      not_kept: [
        { path: "d/up", reason: "not_approved" },
        { path: "out", reason: "not_approved" },
      ],
    },
  });
  const at = (path: string) => join(kernel.root, path);
  expect([readlinkSync(at("in")), readlinkSync(at("system"))]).toEqual(["own.txt", "/usr/bin/env"]);
  expect([existsSync(at("out")), lstatSync(at("d/up"), { throwIfNoEntry: false })]).toEqual([false, undefined]);
});

test("a permit may waive it", async () => {
  const waiver = `@id("op.links")\n@message("m")\n@waives("LINK:outside")\npermit (principal, action == Handrail::Action::"commit", resource is Handrail::File) when { resource.path == "out" };\n`;
  const kernel = await askingKernel({ tools: [shell], policies: waiver });
  expect((await kernel.call("shell", { command: "ln -s /etc/hosts out" })).outcome).toMatchObject({ kind: "success" });
  expect(readlinkSync(join(kernel.root, "out"))).toBe("/etc/hosts");
});
