// A command that changes 50 MB in 5,001 files about which policy asks: the request stays small, everything can be
// reached, and the kernel's thread goes on with other work all the time.
import { expect, test } from "vitest";
import { readApprovalDocument } from "../../../src/model/approval/approval-document.ts";
import { listRecords } from "../../../src/model/approval/effect-list.ts";
import { shell } from "../../../src/tools/shell/shell.ts";
import { approvalForm } from "../../../src/transports/mcp/approval/approval-form.ts";
import { approve, askingKernel, pending } from "../../support/asking.ts";
import { watchedTurns } from "../../support/turns.ts";

const ASKS = `
@id("data.asks")
@ask("data is looked at")
permit (principal, action == Handrail::Action::"commit", resource is Handrail::File)
when { resource.path like "data/*" };
`;
const COMMAND =
  "mkdir data; seq 10000001 13500000 > data/large.txt; " +
  "seq 100000001 102100000 > /tmp/all; split -l 420 -a 4 /tmp/all data/f";

/**
 * Pieces of work that nothing may take at once: several times what it is to be. All 5,001 at once took ten times as
 * much.
 */
const LONGEST_PIECES = 100;

test("50 MB at a prompt are summed up, all of them can be reached, and nothing stands still for them", async () => {
  const kernel = await askingKernel({ tools: [shell], policies: ASKS });
  await kernel.call("shell", { command: "true" });
  const { result, pieces: asking } = await watchedTurns(async () => {
    const asked = kernel.call("shell", { command: COMMAND });
    return { asked, ...(await pending(kernel)) };
  });
  const { asked, ref, document } = result;
  expect(document.length).toBeLessThan(32_000);
  const request = readApprovalDocument(ref, document);
  if (request === undefined) throw new Error("the request cannot be read");
  const { effects } = request.details;
  expect(effects).toMatchObject({
    count: 5001,
    created: 5001,
    bytesAfter: 52_500_000,
    asking: [{ ruleId: "data.asks", effects: 5001 }],
  });
  expect(approvalForm({ ref, request })?.["message"]).toMatch(/handrail approvals show\s+[0-9a-f]{12} --full/);

  const { hash = "", bytes = 0 } = effects?.list ?? {};
  const seen = { effects: 0, lines: 0, bytes: 0 };
  for await (const record of listRecords(kernel.content.read(hash, { offset: 0, length: bytes })))
    if ("lines" in record)
      for (const line of record.lines.split("\n")) {
        if (!line.startsWith("+")) continue;
        seen.lines += 1;
        seen.bytes += line.length;
      }
    else seen.effects += 1;
  expect(seen).toEqual({ effects: 5001, lines: 5_600_000, bytes: 52_500_000 });

  const { result: answer, pieces: landing } = await watchedTurns(async () => {
    await approve(kernel, ref);
    return await asked;
  });
  expect(answer.outcome).toMatchObject({ kind: "success", data: { files: { created: 5002 } } });
  expect([asking, landing].filter((pieces) => pieces > LONGEST_PIECES)).toEqual([]);
  expect(kernel.internalErrors).toEqual([]);
});
