/**
 * `handrail`: the command line. Commands load what they need when they run, so that starting stays quick.
 *
 * Standard output carries data alone. Every failure is one line on standard error that says what to do next; with
 * `--json` it is a line on standard output as well.
 */
import { endOf } from "./failures.ts";
import { createProgram } from "./program.ts";
import { withStateNotice } from "./start/state-notice.ts";
import { letReadersGo } from "./terminal/gone-reader.ts";

letReadersGo();
const program = await createProgram(process.argv[2]);
withStateNotice(program);
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = await endOf(error, program, process.argv.slice(2));
}
