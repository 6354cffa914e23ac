/**
 * Examples beside a policy: requests that must be decided as they say, or the policies are refused. Text in, examples
 * out; who decides them, and what of them fails, is somebody else's business.
 *
 * Strict, because an example that is misread protects nothing: unknown keys, odd values and empty files are problems,
 * each with file, line and column.
 */
import type { Document } from "yaml";
import * as z from "zod";
import { CONFIG_FILE_BYTES_MAX, MAX_PATH_LEN } from "../base/limits.ts";
import { EFFECT_CLASSES } from "../model/outcome/effect.ts";
import { PRESET_NAMES } from "../model/people/preset.ts";
import { ROLE_PATTERN } from "../model/people/role.ts";
import { type PolicyProblem, positionOf } from "./terms/problem.ts";
import { resourceSchema, zoneSchema } from "./terms/resource.ts";

/** Examples of all policies together: each is evaluated at load, which takes about a tenth of a millisecond. */
export const POLICY_EXAMPLES_MAX = 2048;

/** A file of examples. */
export interface ExampleSource {
  /** File name, for messages. */
  readonly name: string;
  readonly text: string;
}

const text = z.string().min(1).max(MAX_PATH_LEN);
const context = z.strictObject({
  armed: z.boolean().exactOptional(),
  trust: z.enum(["untrusted", "verified", "user", "system"]).exactOptional(),
  dataClass: z.enum(["public", "internal", "sensitive", "secret"]).exactOptional(),
  network: z.boolean().exactOptional(),
  /** Seconds since the Unix epoch. */
  time: z.int().min(0).exactOptional(),
  onBranch: z.boolean().exactOptional(),
  contained: z.boolean().exactOptional(),
  lookUp: z.boolean().exactOptional(),
});
const obligation = z
  .string()
  .regex(/^(?:ask|arm|stage)(?: \S+)?$/, "must be `ask`, `arm` or `stage`, alone or with a rule id after it");

const entry = z
  .strictObject({
    /** The tool, or the action of one, such as `git:push`. */
    allow: text.exactOptional(),
    deny: text.exactOptional(),
    arguments: z.record(z.string(), z.unknown()).exactOptional(),
    resource: resourceSchema.exactOptional(),
    effect: z.enum(EFFECT_CLASSES).exactOptional(),
    zone: zoneSchema.exactOptional(),
    role: z.string().regex(ROLE_PATTERN).default("dev"),
    preset: z
      .union([z.enum(PRESET_NAMES), z.array(z.enum(PRESET_NAMES)).min(1).max(PRESET_NAMES.length)])
      .exactOptional(),
    workspace: z.string().startsWith("/").max(MAX_PATH_LEN).exactOptional(),
    agent: text.exactOptional(),
    user: text.exactOptional(),
    context: context.default({}),
    /** The deciding rule. */
    by: text.exactOptional(),
    /** What must happen before an allowed call runs; none when absent. */
    obligations: z.array(obligation).max(16).exactOptional(),
  })
  .refine(
    (one) => (one.allow === undefined) !== (one.deny === undefined),
    "must have either `allow` or `deny`, with the name of a tool",
  )
  .refine((one) => one.arguments === undefined || (one.resource === undefined && one.effect === undefined), {
    message: "has `arguments`, which say by themselves what is touched; leave `resource` and `effect` out",
  })
  .refine((one) => one.zone === undefined || one.resource === undefined, "has a `resource`; write the zone there")
  .refine((one) => one.deny === undefined || one.obligations === undefined, "is denied; leave `obligations` out");

/** One example. `line` and `column` start at 1. */
export interface PolicyExample extends Omit<z.infer<typeof entry>, "preset" | "allow" | "deny"> {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly expected: "allow" | "deny";
  readonly tool: string;
  /** Presets under which it must hold; empty stands for the one that is chosen where nothing else is said. */
  readonly presets: readonly (typeof PRESET_NAMES)[number][];
}

/** Examples, usable only when there is no problem. */
export interface ParsedExamples {
  readonly examples: readonly PolicyExample[];
  readonly problems: readonly PolicyProblem[];
}

/** Parses the examples of all `sources`; every problem of every file is named. */
export async function parseExamples(sources: readonly ExampleSource[]): Promise<ParsedExamples> {
  const examples: PolicyExample[] = [];
  const problems: PolicyProblem[] = [];
  for (const source of sources) {
    await parseSource(source, examples, problems);
    if (examples.length <= POLICY_EXAMPLES_MAX) continue;
    const message = `there are more than ${POLICY_EXAMPLES_MAX} examples; keep those that say something`;
    return { examples: [], problems: [...problems, problemOf(source, 0, message)] };
  }
  return { examples, problems };
}

async function parseSource(source: ExampleSource, examples: PolicyExample[], problems: PolicyProblem[]): Promise<void> {
  const fail = (message: string, offset = 0) => void problems.push(problemOf(source, offset, message));
  if (!source.text.isWellFormed() || source.text.length > CONFIG_FILE_BYTES_MAX)
    return fail(`the file must be UTF-8 text of at most ${CONFIG_FILE_BYTES_MAX} bytes`);
  const { isSeq, parseDocument } = await import("yaml");
  const document = parseDocument(source.text, { uniqueKeys: true, schema: "core", merge: false });
  for (const error of document.errors)
    fail(`the file is not valid YAML: ${error.message.split("\n")[0] ?? ""}`, error.pos[0]);
  if (document.errors.length > 0) return;
  const list = document.contents;
  if (!isSeq(list) || list.items.length === 0)
    return fail("the file must be a list of examples, each with `allow` or `deny`");
  if (list.items.length > POLICY_EXAMPLES_MAX)
    return fail(`the file has more than ${POLICY_EXAMPLES_MAX} examples; split or shorten it`);
  const values = plainList(document);
  if (values === undefined) return fail("the file refers to itself too often; write the examples out");
  for (const [index, value] of values.entries()) {
    const offset = offsetOf(document, [index]) ?? 0;
    const parsed = entry.safeParse(value);
    if (parsed.success) examples.push(exampleOf(parsed.data, source, offset));
    else
      for (const issue of parsed.error.issues) {
        const where = issue.path.map(String).join(".");
        const message = `the example ${where === "" ? "" : `has \`${where}\`: `}${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`;
        fail(message, offsetOf(document, [index, ...issue.path]) ?? offset);
      }
  }
}

function plainList(document: Document): readonly unknown[] | undefined {
  try {
    const values: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    return Array.isArray(values) ? values : undefined;
  } catch {
    // Aliases are the one thing that a document without errors can fail by.
    return undefined;
  }
}

/** Aliases that one file may use: none is needed, and each can multiply the file. */
const ALIASES_MAX = 100;

function exampleOf(
  { allow, deny, preset, ...rest }: z.infer<typeof entry>,
  source: ExampleSource,
  offset: number,
): PolicyExample {
  return {
    ...rest,
    file: source.name,
    ...positionOf(source.text, offset),
    expected: deny === undefined ? "allow" : "deny",
    tool: deny ?? allow ?? "",
    presets: preset === undefined ? [] : typeof preset === "string" ? [preset] : preset,
  };
}

/** Where `path`, or as much of it as there is, stands in the text. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (typeof node !== "object" || node === null || !("range" in node) || !Array.isArray(node.range)) continue;
    const [start] = node.range as readonly unknown[];
    if (typeof start === "number") return start;
  }
  return undefined;
}

function problemOf(source: ExampleSource, offset: number, message: string): PolicyProblem {
  return { file: source.name, ...positionOf(source.text, offset), message, severity: "error" };
}
