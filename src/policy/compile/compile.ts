/**
 * From policy text to checked policies. Every fault of every file is found in one go, with file, line and column.
 *
 * The text is what runs: Cedar's JSON form rounds large integers and is used for analysis alone.
 * INVARIANT: compiled policies have distinct ids, known annotations, and type-check against the schema.
 */
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { CONFIG_FILE_BYTES_MAX, POLICY_FILES_MAX } from "../../base/limits.ts";
import { asStep } from "../../base/long-steps.ts";
import {
  type CedarError,
  cedarProblems,
  joinSources,
  locateIn,
  type PolicyProblem,
  type PolicySource,
  positionOf,
  problemAt,
} from "../terms/problem.ts";
import { type Annotations, parseAnnotations, waives } from "./annotations.ts";
import type { Cedar } from "./cedar.ts";

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

/**
 * Compiles `sources` against `schema`.
 * @param isValidated the very same sources and schema were found valid, without a warning, by the same engine before
 */
export function compilePolicies(
  cedar: Cedar,
  sources: readonly PolicySource[],
  { schema, isValidated = false }: { readonly schema: JsonObject; readonly isValidated?: boolean },
): Compilation {
  const problems: PolicyProblem[] = [];
  if (sources.length > POLICY_FILES_MAX) {
    const message = `there are ${sources.length} policy files, at most ${POLICY_FILES_MAX} are possible; join some`;
    return {
      policies: [],
      problems: [{ file: sources[POLICY_FILES_MAX]?.name ?? "", line: 1, column: 1, message, severity: "error" }],
    };
  }
  const names = new Set<string>();
  const policies: CompiledPolicy[] = [];
  const readable: PolicySource[] = [];
  for (const source of sources) {
    if (names.has(source.name))
      problems.push(problemAt(source, 0, `two policy files are called \`${source.name}\`; rename one`));
    names.add(source.name);
    const read = readSource(cedar, source, problems);
    if (read === undefined) continue;
    policies.push(...read);
    readable.push(source);
  }
  if (readable.length > 0 && !isValidated)
    problems.push(...asStep("validating policies", () => validate(cedar, readable, schema)));
  reportDuplicates(policies, problems);
  reportUnknownWaivers(policies, problems);
  return { policies, problems };
}

/** The policies of a file, or nothing when it cannot be read. */
function readSource(
  cedar: Cedar,
  source: PolicySource,
  problems: PolicyProblem[],
): readonly CompiledPolicy[] | undefined {
  const fail = (message: string, offset = 0): undefined => {
    problems.push(problemAt(source, offset, message));
  };
  if (!source.text.isWellFormed()) return fail("the file is not valid text; save it as UTF-8");
  if (Buffer.byteLength(source.text) > CONFIG_FILE_BYTES_MAX) {
    return fail(`the file is larger than ${CONFIG_FILE_BYTES_MAX} bytes; split it`);
  }
  const parts = cedar.policySetTextToParts(source.text);
  if (parts.type === "failure") {
    problems.push(...cedarProblems(parts.errors, locateIn(source), "error").map(({ problem }) => problem));
    return undefined;
  }
  const [template] = parts.policy_templates;
  if (template !== undefined) {
    return fail("policy templates are not supported; write the policy out", Math.max(0, source.text.indexOf(template)));
  }
  return inSourceOrder(parts.policies)
    .map(locator(source.text))
    .flatMap(({ text, offset }) => compileOne(cedar, { source, text, offset }, problems) ?? []);
}

/** Validates all files at once: reading the schema is the greater part of the cost. */
function validate(cedar: Cedar, sources: readonly PolicySource[], schema: JsonObject): readonly PolicyProblem[] {
  const { text, locate } = joinSources(sources);
  const checked = cedar.validate({ schema: schema as never, policies: { staticPolicies: text } });
  const problemsIn = (errors: readonly CedarError[], severity: "error" | "warning") =>
    cedarProblems(errors, locate, severity)
      // Presets name tools that need not be registered, so that some of their policies cannot match; that is no oddity.
      .filter(({ source }) => severity === "error" || source.origin === "operator")
      .map(({ problem }) => problem);
  if (checked.type === "failure") return problemsIn(checked.errors, "error");
  const { validationErrors, validationWarnings } = checked;
  return [
    ...validationErrors.flatMap(({ error }) => problemsIn([error], "error")),
    ...validationWarnings.flatMap(({ error }) => problemsIn([error], "warning")),
  ];
}

/** One policy, and where it stands in its file. */
interface LocatedPolicy {
  readonly source: PolicySource;
  readonly text: string;
  readonly offset: number;
}

function compileOne(
  cedar: Cedar,
  { source, text, offset }: LocatedPolicy,
  problems: PolicyProblem[],
): CompiledPolicy | undefined {
  const parsed = cedar.policyToJson(text);
  const form: unknown = parsed.type === "success" ? parsed.json : undefined;
  if (parsed.type === "failure" || !isJsonObject(form)) {
    problems.push(problemAt(source, offset, "the policy cannot be analysed; write it more simply"));
    return undefined;
  }
  const { effect } = parsed.json;
  const annotations = parseAnnotations(effect, form.annotations, (message) =>
    problems.push(problemAt(source, offset, message)),
  );
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
