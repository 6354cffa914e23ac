/**
 * Sums a call up in one line for a person and lists its risks. Pure.
 *
 * A person should know both before agreeing.
 *
 * INVARIANT: every word is the kernel's own. Counts, zones, effects and registered names stand here, and nothing that
 * an agent wrote.
 */
import type { ApprovalDetails, AskingRule } from "../../../model/approval/approval.ts";
import type { EffectClass } from "../../../model/outcome/effect.ts";
import { type CommandDanger, type CommandResource, REASON_WORDS } from "../../../model/place/command.ts";
import { obeyedBy } from "../../../model/place/obeyed-files/obeyed-files.ts";
import { pathShapesRepository } from "../../../model/place/repository-shape.ts";
import type { Tool } from "../../../model/tool/tool.ts";
import type { Decided, ResolvedAccess } from "../../call/stages.ts";

/** Of a file that is protected only for what lies beside it. */
const REPOSITORY_RISK =
  "completes or changes what git takes for a repository, and git runs the programs that its `config` names";

/** Of a new tree nobody has seen anything when a person is asked about it. */
const CLONE_RISK =
  "whatever the repository holds lands, also files that people's tools execute or obey, and symbolic links";

/** Lines about obeyed files in one prompt: more would hide the other risks. */
const OBEYED_LINES_MAX = 8;

/** Rule ids of the capability's danger patterns begin so, and those of policies that ask about dangerous commands. */
const DANGER = /^(?:DANGER:|danger\.)/;

/** Whether one of the rules that ask is about a danger. */
export function isDanger(rules: readonly AskingRule[]): boolean {
  return rules.some(({ ruleId }) => DANGER.test(ruleId));
}

/** One line about a call, such as "`write_file`: write 1 protected file". */
export function summaryOf(tool: Pick<Tool, "name" | "capability">, accesses: readonly ResolvedAccess[]): string {
  const counts = new Map<string, number>();
  for (const access of accesses) {
    const what = phraseOf(access);
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const phrases = [...counts].map(([what, count]) =>
    what.replace("%", count === 1 ? "1" : String(count)).replace("(s)", plural(count)),
  );
  const done = phrases.length === 0 ? (EFFECT_RISKS[tool.capability.effect] ?? "run") : phrases.join(", ");
  return `\`${tool.name}\`: ${done}`;
}

function plural(count: number): string {
  return count === 1 ? "" : "s";
}

function phraseOf({ resource, effect, target }: ResolvedAccess): string {
  switch (resource.kind) {
    case "file":
      return `${effect} % ${target === undefined || target.zone === "own" ? "" : `${target.zone} `}file(s)`;
    case "command":
      return "run % command(s)";
    case "host":
      return "contact % host(s)";
    case "git_ref":
      return `${effect} % git reference(s)`;
    case "model":
      return "send content to % model(s)";
    case "package":
      return effect === "network" ? "fetch % package(s)" : "install % package(s)";
    case "artifact":
      return `${effect} % artifact(s)`;
    case "tool":
      return `use the tool`;
  }
}

/** What an effect means where it goes beyond files of the service. */
const EFFECT_RISKS: Partial<Readonly<Record<EffectClass, string>>> = {
  exec: "runs programs on this machine",
  network: "sends data to other machines, or takes data from them",
  system: "changes the machine itself",
};

/** What it means that a command has a danger. */
const COMMAND_RISKS: Readonly<Record<CommandDanger, string>> = {
  unparsed: "the command could not be read, so it may run anything",
  too_much: "the command is too long or too deep to be looked through, so it may run anything",
  hidden_characters: "the command holds characters that are not seen",
  lookalike: "a program's name holds characters that look like others",
  dynamic_binary: "which program runs is only known when it runs",
  dynamic_code: "which text a shell runs is only known when it runs",
  dynamic_redirection: "which file is read or written is only known when it runs",
  inline_code: "an interpreter gets a program as text, which is not looked through",
  argument_program: "an option or an argument makes a program start another",
  loaded_code: "an argument names a library or plug-in that a program loads",
  leaves_machine: "a program acts outside of the sandbox: on another machine, or through a service of this one",
  interactive: "a program takes commands while it runs, which can start others",
  dynamic_options: "words that are only known when it runs may be options that start or load something",
  environment: "it changes variables that decide which code programs load",
  shell_state: "it changes what names stand for in the rest of the command",
  unclear_wrapper: "a program runs another, and it is not clear which",
};

/** The risks of a call, the gravest first. */
export function risksOf(
  { tool, accesses, caller: { mark } }: Pick<Decided, "tool" | "accesses" | "caller">,
  rules: readonly AskingRule[],
): readonly string[] {
  const risks: string[] = [];
  for (const { ruleId } of rules) if (DANGER.test(ruleId)) risks.push(`the call matches the danger rule \`${ruleId}\``);
  const commands = accesses.flatMap(({ resource }) => (resource.kind === "command" ? [resource] : []));
  for (const danger of new Set(commands.flatMap(unexplained))) risks.push(COMMAND_RISKS[danger]);
  risks.push(...new Set(commands.flatMap(({ reasons = [] }) => reasons)));
  if (accesses.some(({ carriesSecret }) => carriesSecret === true))
    risks.push("what it writes or sends holds a secret");
  const effects = new Set<EffectClass>([tool.capability.effect, ...accesses.map(({ effect }) => effect)]);
  for (const effect of effects) {
    const risk = EFFECT_RISKS[effect];
    if (risk !== undefined) risks.push(risk);
  }
  if (accesses.some(({ resource }) => resource.kind === "git_ref" && resource.operation === "clone"))
    risks.push(CLONE_RISK);
  risks.push(...obeyedRisks(accesses));
  if (mark.trustLevel === "untrusted")
    risks.push("the agent has read untrusted content, which may be what asks for this");
  if (mark.dataClass === "sensitive" || mark.dataClass === "secret")
    risks.push(`the agent has seen ${mark.dataClass} data, which may be in what it writes or sends`);
  if (tool.capability.risk === "high") risks.push("the tool declares a high risk");
  return risks;
}

/** Dangers of a command of which none of its reasons says where they come from: the others are said by those alone. */
function unexplained({ dangers, reasons = [] }: CommandResource): readonly CommandDanger[] {
  const words: Partial<Readonly<Record<CommandDanger, readonly string[]>>> = REASON_WORDS;
  return dangers.filter(
    (danger) => words[danger]?.some((word) => reasons.some((reason) => reason.includes(word))) !== true,
  );
}

/** Who obeys the protected files that a call changes, one line for each entry of the list of obeyed files. */
function obeyedRisks(accesses: readonly ResolvedAccess[]): readonly string[] {
  const lines = accesses.flatMap(({ effect, target }) => {
    if (effect === "read" || target?.zone !== "protected") return [];
    const entry = obeyedBy(target.place.path);
    if (entry === undefined && pathShapesRepository(target.place.path, () => true)) return REPOSITORY_RISK;
    return entry === undefined
      ? "changes a protected file: people's tools execute or obey it"
      : `changes a protected file (\`${entry.pattern}\`): ${entry.reason}`;
  });
  const told = [...new Set(lines)];
  const more = told.length - OBEYED_LINES_MAX;
  return more > 0 ? [...told.slice(0, OBEYED_LINES_MAX), `changes ${more} more kinds of protected files`] : told;
}

/** The risk of a call that runs what files of the workspace say. */
export function projectRisks(
  tool: Pick<Tool, "capability">,
  accesses: readonly ResolvedAccess[],
  looked: boolean,
): readonly string[] {
  const isSaid =
    looked && tool.capability.effect === "exec" && accesses.some(({ resource }) => resource.kind === "file");
  return isSaid ? ["what is run stands in files of the workspace, which the agent may have written"] : [];
}

/** Which of the operator's secrets can go where. */
export function secretRisks(
  accesses: Decided["accesses"],
  secretsFor: (host: string, port: number) => readonly string[],
): readonly string[] {
  const hosts = accesses.flatMap(({ resource }) => (resource.kind === "host" ? [resource] : []));
  return hosts.slice(0, SECRET_RISKS_MAX).flatMap(({ host, port }) => {
    const names = secretsFor(host, port);
    return names.length === 0 ? [] : [`requests to ${host}:${port} can be made with the secrets ${names.join(", ")}`];
  });
}

/** Servers of a call about which that is said. */
const SECRET_RISKS_MAX = 8;

/** The risks of what would change, and of what of it cannot be shown. */
export function previewRisks({ changes, unseen }: Pick<ApprovalDetails, "changes" | "unseen">): readonly string[] {
  const deleted = changes.filter(({ kind }) => kind === "delete").length;
  const isPartial =
    unseen !== undefined ||
    changes.some(({ kind, bytesAfter, diff, linesOmitted }) => {
      const isDirectory = kind === "rename" && bytesAfter === undefined; // all of it is as it was
      return (diff === undefined && !isDirectory) || linesOmitted > 0;
    });
  return [
    ...(deleted === 0 ? [] : [`deletes ${deleted} file${plural(deleted)}`]),
    ...(isPartial ? ["not all of what would change can be shown"] : []),
  ];
}
