/**
 * A kernel that makes calls under a lease: `spend STATE CONFIG WORKSPACE LEASE CALLS` waits for its input to end, makes
 * them many at once and prints how many succeeded and how the others ended; `… hold` makes one call that never ends.
 */
import { once } from "node:events";
import { z } from "zod";
import { createKernel } from "../../../src/server/doors/library.ts";
import { defineTool } from "../../../src/tools/kit/define-tool.ts";

const [stateDirectory = "", configDirectory = "", workspace = "", leaseId = "", calls = ""] = process.argv.slice(2);
const hold = defineTool({
  name: "hold",
  title: "Hold",
  description: "Never ends.",
  parameters: z.strictObject({ path: z.string() }),
  capability: { effect: "read", risk: "low", approval: { level: "auto" } },
  analyse: ({ path }) => [{ resource: { kind: "file", path }, effect: "read" }],
  execute: () => {
    process.stdout.write("held\n");
    return new Promise<never>(() => undefined);
  },
});
const kernel = await createKernel({ stateDirectory, configDirectory, tools: [hold] });
const session = await kernel.openSession({ workspace, leaseId });
const begin = once(process.stdin.resume(), "end"); // its open input keeps the process alive
process.stdout.write("ready\n");
if (calls === "hold") await session.call("hold", { path: "a.txt" });
await begin;
const made = await Promise.all(
  Array.from({ length: Number(calls) }, () => session.call("read_file", { path: "a.txt" })),
);
const ends = new Map<string, number>();
for (const { response } of made) {
  const { outcome } = response;
  const end =
    outcome.kind === "denied" ? outcome.denial.reason : outcome.kind === "error" ? outcome.code : outcome.kind;
  ends.set(end, (ends.get(end) ?? 0) + 1);
}
process.stdout.write(`done ${JSON.stringify(Object.fromEntries([...ends].sort()))}\n`);
await kernel.close();
