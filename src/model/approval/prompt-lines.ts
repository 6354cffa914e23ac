/**
 * Renders a request for approval as lines for a person. Pure.
 *
 * The kernel's own words and the agent's stand beside each other, always on lines of their own. Terminals, dialogs and
 * pages show the same lines. The document is trusted to be what the kernel wrote, because it is named by its digest.
 *
 * INVARIANTS: A line is the kernel's or the agent's, never both. All text of the agent went through `foreign-text.ts`.
 * Nothing that the document says is left out.
 */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { asciiLine, foldEmpty, hasLookAlikes, visibleLine, visibleLines } from "../../text/foreign-text.ts";
import type { ApprovalDetails, ApprovalRequest, ChangeDetail } from "./approval.ts";

/** Whose words a line has, and what it is. */
export type PromptLine =
  | { readonly by: "kernel"; readonly kind: "title" | "heading" | "fact" | "warning"; readonly text: string }
  | { readonly by: "agent"; readonly kind: "text" | "added" | "removed"; readonly text: string };

/** The lines of a request. @param ref by which people ask for what it does not show */
export function promptLines(
  request: ApprovalRequest & { readonly details: ApprovalDetails },
  ref = "blake3:REF",
): readonly PromptLine[] {
  const { details } = request;
  return [
    { by: "kernel", kind: "title", text: visibleLine(request.summary) },
    ...request.risks.map((risk): PromptLine => ({ by: "kernel", kind: "warning", text: visibleLine(risk) })),
    heading("asked by"),
    ...details.rules.map(({ ruleId, rationale }) => fact(rationale === undefined ? ruleId : `${ruleId}: ${rationale}`)),
    ...effectsLines(details, ref),
    heading("for"),
    ...callerLines(details),
    ...accessLines(details.accesses),
    ...reachedLines(details),
    ...projectLines(details),
    ...sentLines(details),
    ...changesLines(details),
    ...argumentLines(details.arguments),
    ...coverLines(details),
  ];
}

/** What an answer for the kind would cover. */
function coverLines({ covers = [] }: ApprovalDetails): readonly PromptLine[] {
  if (covers.length === 0) return [];
  return [
    heading("what an answer for the kind (`--for kind`, `--for project:TIME`) would cover, and nothing else"),
    ...covers.flatMap(({ what, target, rules }) => [fact(`${what} (${rules.join(", ")})`), ...strictly(target)]),
    fact("as long as rules, role, branch and sandbox stay, and nothing more confidential or less trusted was seen"),
  ];
}

/** How much a command has changed, where its request shows a part of that. */
function effectsLines({ effects }: ApprovalDetails, ref: string): readonly PromptLine[] {
  if (effects === undefined) return [];
  const { count, created, changed, deleted, rights, bytesBefore, bytesAfter, asking, list, unlisted } = effects;
  const kinds = [`${created} new`, `${changed} changed`, `${deleted} deleted`, `${rights} with other rights`];
  return [
    heading("how much that is"),
    fact(`${count} files, links and directories: ${kinds.join(", ")}`),
    fact(`${bytesBefore} bytes in them now, ${bytesAfter} bytes then`),
    ...asking.map(({ ruleId, effects: asked }) => fact(`${ruleId} asks about ${asked} of them`)),
    list === undefined
      ? warning(`what follows is a part, the most important first, and no list of all could be kept: ${unlisted ?? ""}`)
      : warning(
          `what follows is a part, the most important first; all of it, ${list.bytes} bytes: handrail approvals show ${shortRef(ref)} --full`,
        ),
  ];
}

/** Hexadecimal digits by which lists name a request; enough for any command that takes a reference. */
const SHORT_DIGITS = 12;

/** The beginning of a reference, as lists show it. */
export function shortRef(ref: string): string {
  return ref.slice("blake3:".length, "blake3:".length + SHORT_DIGITS);
}

function callerLines({
  userId,
  agentId,
  role,
  sessionId,
  workspace,
  workDir,
  branch,
  seen,
}: ApprovalDetails): readonly PromptLine[] {
  return [
    fact(`user ${userId}, role ${role}, session ${sessionId}`),
    fact(`has seen: ${seen.trustLevel} content, ${seen.dataClass} data`),
    fact("agent, by its own name"),
    ...foreign(agentId),
    fact(workDir === workspace ? "workspace" : "workspace, and the directory in which it works"),
    ...foreign(workspace),
    ...(workDir === workspace ? [] : foreign(workDir)),
    ...(branch === undefined ? [] : [fact("on a branch of it, whose name is"), ...foreign(branch)]),
  ];
}

function accessLines(accesses: readonly JsonObject[]): readonly PromptLine[] {
  return accesses.length === 0 ? [] : [heading("what it touches"), ...accesses.flatMap(accessLine)];
}

function reachedLines({ reached = [] }: ApprovalDetails): readonly PromptLine[] {
  if (reached.length === 0) return [];
  return [
    heading("what it has tried to reach already, whatever you say"),
    ...reached.flatMap(({ host, port, allowed, refused, failed, bytesOut, bytesIn, secrets = [] }) => [
      fact(
        `port ${port}: ${allowed} times reached, ${bytesOut} bytes sent, ${bytesIn} received; ${refused} times refused, ${failed} failed`,
      ),
      ...strictly(host),
      ...(secrets.length === 0 ? [] : [warning(`with the secrets ${secrets.join(", ")}`)]),
    ]),
  ];
}

/** What the kernel knows stands in its own line, the name that the agent chose in the next. */
function accessLine(access: JsonObject): readonly PromptLine[] {
  const effect = wordOf(access["effect"]);
  switch (access["kind"]) {
    case "file":
      return [
        fact(`${effect} file, zone ${wordOf(access["zone"])}${access["root"] === "project" ? ", of the project" : ""}`),
        ...named(access["path"]),
      ];
    case "command":
      return [fact("run program"), ...strictly(access["binary"]), fact("in the command"), ...named(access["line"])];
    case "host":
      return [fact(`contact host, port ${wordOf(access["port"])}`), ...strictly(access["host"])];
    case "more":
      return [warning(`and ${wordOf(access["count"])} more`)];
    default: {
      const { kind, effect: _, ...names } = access;
      return [fact(`${effect} ${wordOf(kind)}`), ...named(JSON.stringify(names))];
    }
  }
}

function projectLines({ projectWords = [] }: ApprovalDetails): readonly PromptLine[] {
  if (projectWords.length === 0) return [];
  return [
    heading("what files of the project say about it, as they are now"),
    ...projectWords.flatMap(({ path, text }) => [
      fact("in the file"),
      ...named(path),
      fact("stands"),
      ...foreign(text),
    ]),
  ];
}

function sentLines({ sends = [] }: ApprovalDetails): readonly PromptLine[] {
  if (sends.length === 0) return [];
  return [
    heading("what it sends"),
    ...sends.flatMap(({ name, text }) => [fact("the content"), ...named(name), fact("which is"), ...foreign(text)]),
  ];
}

function changesLines({ changes, unseen }: ApprovalDetails): readonly PromptLine[] {
  if (changes.length === 0 && unseen === undefined) return [];
  const why = unseen === undefined ? [] : [warning("not all of it can be shown; as things stand:"), ...foreign(unseen)];
  return [heading("what would change"), ...changes.flatMap(changeLines), ...why];
}

const KINDS: Readonly<Record<Exclude<ChangeDetail["kind"], "rename">, string>> = {
  create: "new file",
  modify: "changed file",
  delete: "deleted file",
};

function changeLines(change: ChangeDetail): readonly PromptLine[] {
  const { bytesBefore, bytesAfter, diff, linesOmitted } = change;
  const sizes = [bytesBefore, bytesAfter].map((bytes) => (bytes === undefined ? "none" : `${bytes} bytes`));
  const isDirectory = change.kind === "rename" && bytesAfter === undefined;
  const title =
    change.kind === "rename"
      ? [
          fact(`renamed ${isDirectory ? "directory" : `file, ${sizes[1]}`}, from`),
          ...named(change.from),
          fact("to"),
          ...named(change.path),
        ]
      : [fact(`${KINDS[change.kind]}, ${sizes.join(" -> ")}`), ...named(change.path)];
  if (isDirectory) return [...title, fact("all that lies in it stays as it is; look at it under its old name")];
  if (diff === undefined) return [...title, warning("its content is not shown: it is no text, or too large")];
  const shown = diff === "" ? [fact("its content stays as it is")] : diffLines(diff);
  return linesOmitted === 0
    ? [...title, ...shown]
    : [...title, ...shown, warning(`${linesOmitted} more lines are not shown`)];
}

/** The hunks of a diff. */
function diffLines(diff: string): readonly PromptLine[] {
  return diffLineRows(diff.replace(/\n$/, "").split("\n").slice(2));
}

/** Lines of hunks; the sign is the kernel's, the rest of the line is whoever wrote the file's. */
export function diffLineRows(lines: readonly string[]): readonly PromptLine[] {
  const visible = lines.map((line) => line.slice(0, 1) + visibleLine(line.slice(1)));
  return [
    ...foldEmpty(visible, (line) => line === "+" || line === "-" || line === " ").map(
      (text): PromptLine => ({
        by: "agent",
        kind: text.startsWith("+") ? "added" : text.startsWith("-") ? "removed" : "text",
        text,
      }),
    ),
    ...lookAlikeWarning(lines.join("\n")),
  ];
}

function argumentLines(args: JsonObject): readonly PromptLine[] {
  const lines = Object.entries(args).flatMap(([name, value]) => argumentText(name, value));
  if (lines.length === 0) return [];
  return [heading("arguments, as the agent wrote them"), ...lines.map(agent), ...lookAlikeWarning(lines.join("\n"))];
}

/** Texts of several lines stand as such, everything else as JSON. */
function argumentText(name: string, value: JsonValue | undefined): readonly string[] {
  const label = visibleLine(`${JSON.stringify(name)}:`);
  if (typeof value === "string" && value.includes("\n"))
    return [label, ...visibleLines(value).map((line) => `  ${line}`)];
  const [first = "", ...rest] = (JSON.stringify(value, null, 2) ?? "null").split("\n").map(visibleLine);
  return [`${label} ${first}`, ...rest];
}

/** A name that somebody else chose. */
export function named(name: JsonValue | undefined): readonly PromptLine[] {
  return foreign(String(name ?? ""));
}

function foreign(text: string): readonly PromptLine[] {
  return [...visibleLines(text).map(agent), ...lookAlikeWarning(text)];
}

/** Names for which one letter decides where something goes. */
function strictly(name: JsonValue | undefined): readonly PromptLine[] {
  return [agent(asciiLine(String(name ?? "")))];
}

function lookAlikeWarning(text: string): readonly PromptLine[] {
  return hasLookAlikes(text) ? [warning("has letters that look like others: read it with care")] : [];
}

/** A word of the kernel's vocabulary; should something else stand there, it is made visible. */
function wordOf(value: JsonValue | undefined): string {
  return visibleLine(String(value ?? "unknown"));
}

/** A line above others. */
export function heading(text: string): PromptLine {
  return { by: "kernel", kind: "heading", text };
}

/** A line of the kernel's own. */
export function fact(text: string): PromptLine {
  return { by: "kernel", kind: "fact", text: visibleLine(text) };
}

/** A line of the kernel's own that a person should not miss. */
export function warning(text: string): PromptLine {
  return { by: "kernel", kind: "warning", text: visibleLine(text) };
}

function agent(text: string): PromptLine {
  return { by: "agent", kind: "text", text };
}
