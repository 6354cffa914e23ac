/** `handrail labels`: what principals have seen, and taking it back after a person has looked. */
import { type Command, Option } from "commander";
import { DATA_CLASSES, type DataClass, type Mark, TRUST_LEVELS, type TrustLevel } from "../../model/outcome/label.ts";
import { workspaceDirectory } from "../../server/workspace/workspace-catalog.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, printJson, table, visible } from "../terminal/output.ts";

interface LabelFlags extends KernelFlags {
  readonly workspace: string;
  readonly user?: string;
  readonly agent?: string;
  readonly trust?: TrustLevel;
  readonly class?: DataClass;
  readonly reason: string;
  readonly json?: boolean;
}

/** Adds `handrail labels`. */
export function addLabelsCommand(program: Command): void {
  const labels = program
    .command("labels")
    .description("show and take back the marks that follow agents: least trust and highest class they have seen");
  withKernelOptions(
    labels.command("list").description("list marks, last changed first").option("--json", "print JSON"),
  ).action(listMarks);
  const declassify = labels
    .command("declassify")
    .description("set the marks of a workspace back; recorded with your name and reason")
    .option("--workspace <directory>", "workspace root", ".")
    .option("--user <name>", "only the marks of this user's agents")
    .option("--agent <name>", "only the marks of this agent")
    .addOption(new Option("--trust <level>", "trust from now on (default: user)").choices(TRUST_LEVELS))
    .addOption(new Option("--class <class>", "class from now on (default: internal)").choices(DATA_CLASSES))
    .requiredOption("--reason <text>", "why this is safe")
    .option("--json", "print JSON");
  withKernelOptions(declassify).action(declassifyMarks);
}

async function listMarks(flags: LabelFlags): Promise<void> {
  await withKernel(flags, async (kernel) => {
    const marks = await kernel.marks.listMarks();
    if (flags.json) return printJson(marks);
    const rows = marks.map(({ userId, agentId, serviceRoot, mark, changedAtMs }) => [
      visible(`${userId}/${agentId}`),
      mark.trustLevel,
      mark.dataClass,
      new Date(changedAtMs).toISOString(),
      visible(serviceRoot),
    ]);
    print(table([["PRINCIPAL", "TRUST", "CLASS", "SINCE", "WORKSPACE"], ...rows]));
  });
}

async function declassifyMarks(flags: LabelFlags): Promise<void> {
  await withKernel(flags, async (kernel) => {
    const selection = {
      serviceRoot: workspaceDirectory(flags.workspace),
      ...(flags.user !== undefined && { userId: flags.user }),
      ...(flags.agent !== undefined && { agentId: flags.agent }),
    };
    const to: Partial<Mark> = {
      ...(flags.trust !== undefined && { trustLevel: flags.trust }),
      ...(flags.class !== undefined && { dataClass: flags.class }),
    };
    const done = await kernel.marks.declassify(selection, to, { reason: flags.reason, by: currentUser() });
    if (flags.json) return printJson(done);
    for (const { userId, agentId, before, after } of done) {
      print(
        `${visible(`${userId}/${agentId}`)}  ${before.trustLevel}/${before.dataClass} -> ${after.trustLevel}/${after.dataClass}`,
      );
    }
  });
}
