/** `get_task_context`: where a task stands in the plan, its state and what it is accepted by, from `status.md`. */
import { z } from "zod";
import { MIB } from "../../base/bytes.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Tool, ToolContext } from "../../model/tool/tool.ts";
import { pathArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { TokenBudget, tokensArgument } from "./kit/token-budget.ts";
import type { Entry } from "./status/status-document.ts";

/** Where a status document is looked for, in this order. */
export const STATUS_PATHS = ["status.md", "docs/status.md", "plans/status.md"] as const;
/** Bytes of a status document. */
const STATUS_BYTES_MAX = MIB;
const TOKENS_DEFAULT = 1000;
const ID_CHARACTERS_MAX = 100;
/** Ids that a failure names. */
const IDS_SHOWN = 8;

const parameters = z.strictObject({
  task_id: z
    .string()
    .min(1, "must not be empty; name a task, such as `T-101`")
    .max(ID_CHARACTERS_MAX)
    .meta({ description: "Id of a task, feature, service or phase, such as `T-101` or `Phase 2`." }),
  path: pathArgument(`The status document. Default: the first of \`${STATUS_PATHS.join("`, `")}\`.`).optional(),
  max_tokens: tokensArgument(TOKENS_DEFAULT),
});

type Arguments = z.infer<typeof parameters>;

const ENTRY = {
  kind: text("`phase`, `service`, `feature`, `task`, or `section`."),
  id: text(),
  title: text(),
  state: text("As the document says it; a box `[x]` is `done`, `[ ]` is `open`."),
  line: integer(),
};
const OPTIONAL = ["id", "state"];

/** The tool `get_task_context`. */
export const getTaskContext: Tool<Arguments> = {
  name: "get_task_context",
  title: "Context of a task",
  description:
    "Says where a task of `status.md` stands: its phase, service and feature, its state, acceptance lines, sub-tasks and siblings, with their lines.",
  parameters,
  outputSchema: objectOf({
    path: text(),
    task: objectOf({ ...ENTRY, last_line: integer(), acceptance: listOf(text()) }, OPTIONAL),
    ancestors: { ...listOf(objectOf(ENTRY, OPTIONAL)), description: "Outermost first." },
    children: listOf(objectOf(ENTRY, OPTIONAL)),
    siblings: listOf(objectOf(ENTRY, OPTIONAL)),
    left_out: objectOf({ acceptance: integer(), children: integer(), siblings: integer() }),
    truncated: flag("Something did not fit `max_tokens`."),
  }),
  capability: READS,
  analyse: ({ path = "." }) => [{ resource: { kind: "file", path }, effect: "read" }],
  async execute({ task_id: id, path, max_tokens: tokens = TOKENS_DEFAULT }, context) {
    const { isTask, parseStatus } = await import("./status/status-document.ts");
    const { file, source } = await statusOf(context, path);
    const document = parseStatus(source);
    if (document.kind === "malformed") throw malformed(file, document);
    const data = contextOf(entryOf(document.entries, { id, file, isTask }), file, tokens);
    return { kind: "data", data, ...(data["truncated"] === true && { truncated: true }) };
  },
  toText: contextText,
};

async function statusOf({ code }: ToolContext, path: string | undefined) {
  for (const file of path === undefined ? STATUS_PATHS : [path]) {
    const read = await code.text(path ?? ".", file, STATUS_BYTES_MAX);
    if (read.kind === "text") return { file, source: read.text };
    if (read.why === "absent") continue;
    const why = read.why === "binary" ? "holds null bytes" : `is larger than ${STATUS_BYTES_MAX} bytes`;
    throw new ToolFailure("NOT_SUPPORTED", `\`${file}\` ${why}`, "name another document in `path`");
  }
  const places = path ?? STATUS_PATHS.join("`, `");
  throw new ToolFailure(
    "FILE_NOT_FOUND",
    `there is no status document that this call may read at \`${places}\``,
    "name it in `path`, or look for it with `list_files`",
  );
}

function malformed(file: string, { line, problem }: { readonly line: number; readonly problem: string }): ToolFailure {
  return new ToolFailure(
    "NOT_SUPPORTED",
    `\`${file}\` line ${line}: ${problem}`,
    "correct that line, or name another document in `path`",
  );
}

interface Wanted {
  readonly id: string;
  readonly file: string;
  readonly isTask: (entry: Entry) => boolean;
}

/** The entry of that id. A task goes before others of the same id, and `Phase 1` names the kind as well. */
function entryOf(entries: readonly Entry[], { id: wanted, file, isTask }: Wanted): Entry {
  const id = wanted.trim().toLowerCase();
  const matching = entries.filter(
    (entry) => entry.id?.toLowerCase() === id || `${entry.kind ?? ""} ${entry.id ?? ""}`.toLowerCase() === id,
  );
  const tasks = matching.filter(isTask);
  const chosen = tasks.length > 0 ? tasks : matching;
  const [entry] = chosen;
  if (entry === undefined) throw unknownTask(entries, wanted, file);
  if (chosen.length === 1) return entry;
  const lines = chosen.slice(0, IDS_SHOWN).map(({ line }) => line);
  throw new ToolFailure(
    "NOT_SUPPORTED",
    `\`${file}\` has ${chosen.length} entries with the id \`${wanted}\`, in the lines ${lines.join(", ")}`,
    "say the kind as well, such as `Feature 1`, or give each an id of its own",
  );
}

function unknownTask(entries: readonly Entry[], wanted: string, file: string): ToolFailure {
  const prefix = wanted
    .trim()
    .toLowerCase()
    .replace(/[\d.]+$/, "");
  const ids = entries.flatMap(({ id, kind }) =>
    id === undefined ? [] : [kind && kind !== "task" ? `${kind} ${id}` : id],
  );
  const alike = prefix === "" ? [] : ids.filter((id) => id.toLowerCase().startsWith(prefix));
  const shown = (alike.length > 0 ? alike : ids).slice(0, IDS_SHOWN);
  return new ToolFailure(
    "FILE_NOT_FOUND",
    `\`${file}\` has no task \`${wanted}\``,
    shown.length === 0
      ? "give headings and tasks ids, such as `### Task T-101: Title`"
      : `it has ${ids.length} ids, such as \`${shown.join("`, `")}\``,
  );
}

function contextOf(entry: Entry, path: string, tokens: number): JsonObject {
  const budget = new TokenBudget(tokens);
  const ancestors: Entry[] = [];
  for (let above = entry.parent; above !== undefined; above = above.parent) ancestors.unshift(above);
  const own = { ...shown(entry), last_line: entry.lastLine };
  const chain = ancestors.map(shown);
  budget.spend([own, chain, path]);
  const acceptance = budget.fit(entry.acceptance);
  const children = budget.fit(entry.children.map(shown));
  const siblings = budget.fit((entry.parent?.children ?? []).filter((each) => each !== entry).map(shown));
  const leftOut = {
    acceptance: acceptance.leftOut + entry.acceptanceLeftOut,
    children: children.leftOut,
    siblings: siblings.leftOut,
  };
  return {
    path,
    task: { ...own, acceptance: [...acceptance.shown] },
    ancestors: chain,
    children: [...children.shown],
    siblings: [...siblings.shown],
    left_out: leftOut,
    truncated: Object.values(leftOut).some((count) => count > 0),
  };
}

function shown({ kind, id, title, state, line }: Entry): JsonObject {
  return {
    kind: kind ?? (id === undefined ? "section" : "task"),
    ...(id !== undefined && { id }),
    title,
    ...(state !== undefined && { state }),
    line,
  };
}

function contextText(data: JsonObject): string {
  const task = isJsonObject(data["task"]) ? data["task"] : {};
  const ancestors = objectsOf(data["ancestors"]);
  const lines = [...ancestors, task].map((each, depth) => `${"  ".repeat(depth)}${entryText(each)}`);
  const list = (title: string, entries: readonly string[]) =>
    entries.length === 0 ? [] : [`${title}:`, ...entries.map((each) => `- ${each}`)];
  const acceptance = Array.isArray(task["acceptance"]) ? task["acceptance"].map((each) => String(each)) : [];
  lines.push(
    ...list("Acceptance", acceptance),
    ...list("Sub-tasks", objectsOf(data["children"]).map(entryText)),
    ...list("Siblings", objectsOf(data["siblings"]).map(entryText)),
    `[${nameText(data["path"])}:${String(task["line"])}-${String(task["last_line"])}${leftOutText(data["left_out"])}]`,
  );
  return lines.join("\n");
}

function entryText({ kind, id, title, state, line }: JsonObject): string {
  const name = id === undefined || id === title ? String(title) : `${String(id)}: ${String(title)}`;
  return `${String(kind)} ${name}${state === undefined ? "" : ` [${String(state)}]`} (line ${String(line)})`;
}

function leftOutText(leftOut: JsonValue | undefined): string {
  const counts = isJsonObject(leftOut) ? Object.entries(leftOut).filter(([, count]) => count !== 0) : [];
  if (counts.length === 0) return "";
  const what = counts.map(([name, count]) => countText(count, name === "children" ? "sub-task" : `${name} line`));
  return `; left out: ${what.join(", ")}: raise \`max_tokens\`, or read the lines`;
}
