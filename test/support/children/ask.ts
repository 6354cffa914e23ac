/**
 * Opens a kernel and makes a call that asks, in the session of the token; prints how it ended. Killed while it waits,
 * usually.
 */
import { openKernel } from "../../../src/server/compose.ts";

const [, , stateDirectory = "", configDirectory = "", token = ""] = process.argv;
const kernel = await openKernel({ environment: {}, stateDirectory, configDirectory });
process.stdout.write("ready\n");
const args = { path: "CLAUDE.md", content: "once\n", append: true };
const submission = {
  kind: "call",
  requestId: `child ${process.pid}`,
  sessionToken: token,
  tool: "write_file",
  arguments: args,
} as const;
const { outcome } = await kernel.door.execute(submission, new AbortController().signal);
process.stdout.write(`done ${outcome.kind}\n`);
await kernel.close();
