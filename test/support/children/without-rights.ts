/**
 * Starts a host command and then has no right any more to end it, as with what sudo started; where this process is
 * root. Prints what came of it. Arguments: the program.
 */
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import { runHostCommand } from "../../../src/sandbox/host-commands/run-host-command.ts";

const [program = ""] = process.argv.slice(2);
const ignored = { stdout: () => undefined, stderr: () => undefined };
const running = runHostCommand(
  { argv: [program], environment: {}, timeoutMs: 1000 },
  ignored,
  new AbortController().signal,
);
if (process.geteuid?.() === 0) process.setuid?.(61_234);
const said = await running.then(
  ({ endedBy }) => `ended by ${endedBy}`,
  (error: unknown) => (error instanceof ToolFailure ? `${error.code}: ${error.message}` : String(error)),
);
process.stdout.write(said);
