/** `handrail landings`: a person looks at landings that stopped halfway, does the rest of them, or drops them. */
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { EXIT_DENIED, EXIT_OK } from "../terminal/exit-codes.ts";
import { confirms, currentUser } from "../terminal/inputs.ts";
import { print, printJson, say, table, visible } from "../terminal/output.ts";

interface LandingFlags extends KernelFlags {
  readonly yes?: boolean;
  readonly json?: boolean;
}

type Landing = Awaited<ReturnType<OpenKernel["landings"]["named"]>>;

/** Paths of one landing that are printed; `--json` has all. */
const PATHS_SHOWN = 40;

/** Adds `handrail landings`. */
export function addLandingsCommand(program: Command): void {
  const landings = program
    .command("landings")
    .description("what a command changed and a kernel could not finish landing: look at it, do the rest, or drop it");
  const added = (name: string, description: string) =>
    withKernelOptions(landings.command(name).description(description).option("--json", "print JSON"));
  added("list", "list the landings of which both sides are kept").action((flags: LandingFlags) =>
    withKernel(flags, (kernel) => list(kernel, flags)),
  );
  added("show <name>", "show what of a landing has landed, waits, or was changed since").action(
    (name: string, flags: LandingFlags) => withKernel(flags, (kernel) => show(kernel, name, flags)),
  );
  added("continue <name>", "do the rest of a landing, where nobody has changed what stands there")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      "\nExit codes: 0 all of it has landed, 1 configuration or state, 2 some was left, 64 wrong usage.",
    )
    .action(async (name: string, flags: LandingFlags) => {
      process.exitCode = await withKernel(flags, (kernel) => goOn(kernel, name, flags));
    });
  added("drop <name>", "remove what is kept of a landing; the workspace stays as it is")
    .option("--yes", "do not ask")
    .action(async (name: string, flags: LandingFlags) => {
      process.exitCode = await withKernel(flags, (kernel) => drop(kernel, name, flags));
    });
}

async function list({ landings }: OpenKernel, { json }: LandingFlags): Promise<void> {
  const { landings: found, unread } = await landings.list();
  if (json) return printJson({ landings: found.map(summary), unread });
  for (const path of unread) say(`the journal in \`${visible(path)}\` cannot be read: look at it, then remove it`);
  if (found.length === 0) return print("no landing has stopped halfway");
  const rows = found.map((one) => {
    const { landed, waiting, changed } = summary(one);
    return [one.name, String(landed), String(waiting), String(changed), visible(one.root)];
  });
  print(table([["NAME", "LANDED", "WAITING", "CHANGED", "WORKSPACE"], ...rows]));
}

async function show({ landings }: OpenKernel, name: string, { json }: LandingFlags): Promise<void> {
  const landing = await landings.named(name);
  if (json) return printJson(landing);
  showMoves(landing);
  print(`what the command wrote and what stood there before: \`upper\` and \`side\` in ${visible(landing.path)}`);
}

function showMoves({ moves }: Landing): void {
  const rows = moves.slice(0, PATHS_SHOWN).map(({ path, state }) => [state, visible(path)]);
  print(table([["STATE", "PATH"], ...rows]));
  if (moves.length > PATHS_SHOWN) print(`and ${moves.length - PATHS_SHOWN} more; \`--json\` has all`);
}

async function goOn({ landings }: OpenKernel, name: string, { json, yes }: LandingFlags): Promise<number> {
  const landing = await landings.named(name);
  if (yes !== true) {
    showMoves(landing);
    if (!(await agrees(`do what of \`${visible(name)}\` is waiting?`))) return EXIT_DENIED;
  }
  const done = await landings.continue(landing, currentUser());
  if (json) printJson(done);
  else {
    print(`${done.landed.length} landed, ${done.left.length} left as they are`);
    for (const path of done.left.slice(0, PATHS_SHOWN)) print(`  ${visible(path)}  (changed meanwhile)`);
    print(`both sides are still kept: \`handrail landings drop ${visible(name)}\` removes them`);
  }
  return done.left.length === 0 ? EXIT_OK : EXIT_DENIED;
}

async function drop({ landings }: OpenKernel, name: string, { json, yes }: LandingFlags): Promise<number> {
  const landing = await landings.named(name);
  const { waiting, changed } = summary(landing);
  const lost = `${waiting + changed} of its changes have not landed`;
  if (yes !== true && !(await agrees(`remove both sides of \`${visible(name)}\`? ${lost}`))) return EXIT_DENIED;
  await landings.drop(landing, currentUser());
  if (json) printJson({ dropped: name });
  else print(`dropped: ${lost}, and the workspace is as it was`);
  return EXIT_OK;
}

function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw usageError("there is no terminal to ask on: look at it with `show`, then say `--yes`");
  return confirms(`${question} [y/N] `);
}

function summary({ moves, ...rest }: Landing) {
  const count = (state: string) => moves.filter((one) => one.state === state).length;
  return { ...rest, landed: count("landed"), waiting: count("waiting"), changed: count("changed") };
}
