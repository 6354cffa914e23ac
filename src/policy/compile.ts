/**
 * From policy text to checked policies. Every fault of every file is found in one go, with file, line and column.
 *
 * The text is what runs: Cedar's JSON form rounds large integers and is used for analysis alone.
 * INVARIANT: compiled policies have distinct ids, known annotations, and type-check against the schema.
 */
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { CONFIG_FILE_BYTES_MAX, POLICY_FILES_MAX } from "../base/limits.ts";
import { type Annotations, parseAnnotations, waives } from "./annotations.ts";
import type { Cedar } from "./cedar.ts";

/** One policy file. */
export interface PolicySource {
  /** File name, for messages; distinct among the sources. */
  readonly name: string;
  readonly text: string;
  /** Shipped with the kernel, or written by the operator. Nobody else's policies are ever loaded. */
  readonly origin: "preset" | "operator";
}

/** Something wrong with a policy file. `line` and `column` start at 1; a column counts characters. */
export interface PolicyProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** An `error` refuses all sources; a `warning` is only told. */
  readonly severity: "error" | "warning";
}

/** A policy that may run. */
export interface CompiledPolicy extends Annotations {
  readonly effect: "permit" | "forbid";
  readonly text: string;
  /** Cedar's JSON form, for analysis. */
  readonly form: JsonObject;
  readonly file: string;
  readonly line: number;
}

/** What came of compiling: usable only when no problem is an error. */
export interface Compilation {
  readonly policies: readonly CompiledPolicy[];
  readonly problems: readonly PolicyProblem[];
}

/** The part of Cedar's error that is used. */
interface CedarError {
  readonly message: string;
  readonly help: string | null;
  readonly sourceLocations?: readonly { readonly start: number; readonly label: string | null }[];
  readonly related?: readonly CedarError[];
}

/** Compiles `sources` against `schema`. */
export function compilePolicies(cedar: Cedar, sources: readonly PolicySource[], schema: JsonObject): Compilation {
  const problems: PolicyProblem[] = [];
  if (sources.length > POLICY_FILES_MAX) {
    const message = `there are ${sources.length} policy files, at most ${POLICY_FILES_MAX} are possible; join some`;
    return { policies: [], problems: [{ file: sources[POLICY_FILES_MAX]?.name ?? "", line: 1, column: 1, message, severity: "error" }] };
  }
  const names = new Set<string>();
  const policies: CompiledPolicy[] = [];
  for (const source of sources) {
    if (names.has(source.name)) problems.push(problemAt(source, 0, `two policy files are called \`${source.name}\`; rename one`));
    names.add(source.name);
    policies.push(...compileSource(cedar, source, schema, problems));
  }
  reportDuplicates(policies, problems);
  reportUnknownWaivers(policies, problems);
  return { policies, problems };
}

function compileSource(cedar: Cedar, source: PolicySource, schema: JsonObject, problems: PolicyProblem[]): CompiledPolicy[] {
  const fail = (message: string): CompiledPolicy[] => {
    problems.push(problemAt(source, 0, message));
    return [];
  };
  if (!source.text.isWellFormed()) return fail("the file is not valid text; save it as UTF-8");
  if (Buffer.byteLength(source.text) > CONFIG_FILE_BYTES_MAX)
    return fail(`the file is larger than ${CONFIG_FILE_BYTES_MAX} bytes; split it`);
  const parts = cedar.policySetTextToParts(source.text);
  if (parts.type === "failure") {
    reportCedar(source, parts.errors, "error", problems);
    return [];
  }
  for (const template of parts.policy_templates) {
    problems.push(
      problemAt(source, Math.max(0, source.text.indexOf(template)), "policy templates are not supported; write the policy out"),
    );
  }
  if (parts.policy_templates.length > 0) return [];
  const compiled = inSourceOrder(parts.policies)
    .map(locator(source.text))
    .map(({ text, offset }) => compileOne(cedar, source, text, offset, problems));
  const checked = cedar.validate({ schema: schema as never, policies: { staticPolicies: source.text } });
  if (checked.type === "failure") reportCedar(source, checked.errors, "error", problems);
  else {
    const found = (of: readonly { readonly error: CedarError }[]) => of.map(({ error }) => error);
    reportCedar(source, found(checked.validationErrors), "error", problems);
    // Presets name tools that need not be registered, so that some of their policies cannot match; that is no oddity.
    if (source.origin === "operator") reportCedar(source, found(checked.validationWarnings), "warning", problems);
  }
  return compiled.filter((policy) => policy !== undefined);
}

function compileOne(
  cedar: Cedar,
  source: PolicySource,
  text: string,
  offset: number,
  problems: PolicyProblem[],
): CompiledPolicy | undefined {
  const parsed = cedar.policyToJson(text);
  if (parsed.type === "failure") {
    problems.push(problemAt(source, offset, parsed.errors[0]?.message ?? "the policy cannot be read"));
    return undefined;
  }
  const form: unknown = parsed.json;
  if (!isJsonObject(form)) return undefined;
  const { effect } = parsed.json;
  const annotations = parseAnnotations(effect, form.annotations, (message) => problems.push(problemAt(source, offset, message)));
  return { ...annotations, effect, text, form, file: source.name, line: positionOf(source.text, offset).line };
}

/** Cedar numbers the policies of a text `policy0`, `policy1` … and returns them sorted by these names. */
function inSourceOrder(parts: readonly string[]): readonly string[] {
  const order = parts.map((_, index) => index).sort((left, right) => (`policy${left}` < `policy${right}` ? -1 : 1));
  const sorted: string[] = [];
  order.forEach((index, position) => {
    sorted[index] = parts[position] ?? "";
  });
  return sorted;
}

/** Finds each policy's offset in `whole`, one after another. */
function locator(whole: string): (text: string) => { readonly text: string; readonly offset: number } {
  let cursor = 0;
  return (text) => {
    const found = whole.indexOf(text, cursor);
    const offset = found === -1 ? Math.max(0, whole.indexOf(text)) : found;
    cursor = found === -1 ? cursor : found + text.length;
    return { text, offset };
  };
}

function reportDuplicates(policies: readonly CompiledPolicy[], problems: PolicyProblem[]): void {
  const first = new Map<string, CompiledPolicy>();
  for (const policy of policies) {
    const earlier = first.get(policy.id);
    if (earlier === undefined) first.set(policy.id, policy);
    else if (policy.id !== "") {
      const message = `the id \`${policy.id}\` is taken by ${earlier.file}:${earlier.line}; choose another`;
      problems.push({ file: policy.file, line: policy.line, column: 1, message, severity: "error" });
    }
  }
}

// Not an error: the rule may belong to a preset that is not loaded now.
function reportUnknownWaivers(policies: readonly CompiledPolicy[], problems: PolicyProblem[]): void {
  for (const policy of policies) {
    for (const pattern of policy.waives) {
      if (!/^[a-z]/.test(pattern) || policies.some((other) => waives(pattern, other.id))) continue;
      const message = `\`@waives\` names \`${pattern}\`, which no loaded policy has as its id; check the spelling`;
      problems.push({ file: policy.file, line: policy.line, column: 1, message, severity: "warning" });
    }
  }
}

function reportCedar(source: PolicySource, errors: readonly CedarError[], severity: "error" | "warning", problems: PolicyProblem[]): void {
  for (const error of errors) {
    const place = error.sourceLocations?.[0];
    const message = [error.message, place?.label, error.help].filter(Boolean).join("; ").replace(/for policy `policy\d+`[,:] /g, "");
    problems.push(problemAt(source, characterOffset(source.text, place?.start ?? 0), message, severity));
    reportCedar(source, error.related ?? [], severity, problems);
  }
}

function problemAt(source: PolicySource, offset: number, message: string, severity: "error" | "warning" = "error"): PolicyProblem {
  return { file: source.name, ...positionOf(source.text, offset), message, severity };
}

/** Cedar counts bytes of UTF-8. */
function characterOffset(text: string, byteOffset: number): number {
  return Buffer.from(text).subarray(0, byteOffset).toString("utf8").length;
}

function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}
