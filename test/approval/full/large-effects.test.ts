// A command that changes 50 MB in 5,001 files about which policy asks: the request stays small, everything can be
// reached, and the kernel's thread goes on with other work all the time.
import { expect, test } from "vitest";
import { readApprovalDocument } from "../../../src/model/approval/approval-document.ts";
import { listRecords } from "../../../src/model/approval/effect-list.ts";
import { shell } from "../../../src/tools/shell/shell.ts";
import { approvalForm } from "../../../src/transports/mcp/approval/approval-form.ts";
import { approve, askingKernel, pending } from "../../support/asking.ts";

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
 * Milliseconds of the processor that nothing may take at once: several times what it is to be, because a step takes
 * longer where others work beside it. All 5,001 at once took ten times as much.
 */
const LONGEST_MS = 400;

/** Milliseconds of the processor that the thread takes without a pause: other programs of the machine do not count. */
function watchThread(): { readonly longestMs: () => number } {
  let longest = 0;
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
  }, 1);
  return {
    longestMs() {
      clearInterval(timer);
      return longest;
    },
  };
}

test("50 MB at a prompt are summed up, all of them can be reached, and nothing stands still for them", async () => {
  const kernel = await askingKernel({ tools: [shell], policies: ASKS });
  await kernel.call("shell", { command: "true" });
  const asking = watchThread();
  const asked = kernel.call("shell", { command: COMMAND });
  const { ref, document } = await pending(kernel);
  const askedMs = asking.longestMs();
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

  const landing = watchThread();
  await approve(kernel, ref);
  expect((await asked).outcome).toMatchObject({ kind: "success", data: { files: { created: 5002 } } });
  expect([askedMs, landing.longestMs()].map((ms) => (ms < LONGEST_MS ? "short" : ms))).toEqual(["short", "short"]);
  expect(kernel.internalErrors).toEqual([]);
});
