/**
 * Annotations of policies: the id of the rule, what it tells people, and which obligations it imposes or lifts.
 *
 * Every annotation must be known, because a misspelt `@ask` would otherwise allow without asking.
 */
import { isJsonObject } from "../../base/json.ts";
import type { Obligation } from "../../model/outcome/decision.ts";

/** What a rule id looks like. Upper-case ids belong to the kernel's own rules. */
export const RULE_ID_PATTERN = /^[a-z][a-z0-9_.-]{0,127}$/;
/** What a reason looks like; on the wire it appears in upper case. */
const RATIONALE_PATTERN = /^[a-z][a-z0-9_]{0,127}$/;
/** A rule or capability whose obligations are lifted; a trailing `*` stands for any rest. */
const WAIVE_PATTERN = /^(?:\*|[A-Za-z][A-Za-z0-9_.:-]{0,255}\*?)$/;
/** Rules that one permit may name. */
const WAIVES_MAX = 64;

const OBLIGATIONS: readonly Obligation[] = ["ask", "arm", "stage"];
const KNOWN = new Set<string>(["id", "rationale", "message", "waives", ...OBLIGATIONS]);

/** An obligation that a permit imposes. */
export interface ImposedObligation {
  readonly obligation: Obligation;
  /** Why, for people; may be empty. */
  readonly reason: string;
}

/** The annotations of one policy. */
export interface Annotations {
  readonly id: string;
  readonly rationale?: string;
  readonly message?: string;
  readonly obligations: readonly ImposedObligation[];
  readonly waives: readonly string[];
}

/** Reads the annotations of a policy of Cedar's JSON form; every fault found is told to `report`. */
export function parseAnnotations(
  effect: "permit" | "forbid",
  raw: unknown,
  report: (message: string) => void,
): Annotations {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(isJsonObject(raw) ? raw : {})) {
    if (!KNOWN.has(name))
      report(`unknown annotation \`@${name}\`; use one of ${[...KNOWN].map((known) => `\`@${known}\``).join(", ")}`);
    given.set(name, typeof value === "string" ? value : "");
  }
  const id = given.get("id");
  if (id === undefined) report('the policy has no id; put `@id("my-rule")` before it');
  else if (!RULE_ID_PATTERN.test(id))
    report(
      `the id \`${id}\` is not valid; start with a lower-case letter and use lower-case letters, digits, \`_\`, \`.\` and \`-\``,
    );
  const rationale = given.get("rationale");
  if (rationale !== undefined && !RATIONALE_PATTERN.test(rationale))
    report(`the rationale \`${rationale}\` is not valid; use lower-case letters, digits and \`_\``);
  const message = given.get("message");
  if (message?.trim() === "") report("the message is empty; say what to do next, or leave `@message` out");
  const obligations = OBLIGATIONS.flatMap((obligation) => {
    const reason = given.get(obligation);
    return reason === undefined ? [] : [{ obligation, reason }];
  });
  const waives = parseWaives(given.get("waives"), report);
  if (effect === "forbid" && obligations.length + waives.length > 0) {
    report(
      "a `forbid` can neither impose nor lift obligations; move `@ask`, `@arm`, `@stage` and `@waives` to a `permit`",
    );
  }
  return {
    id: id ?? "",
    ...(rationale === undefined ? {} : { rationale }),
    ...(message === undefined ? {} : { message }),
    obligations,
    waives,
  };
}

/**
 * Whether the waiver `pattern` names `ruleId`. A capability stands for everything that it asks by itself:
 * `CAPABILITY:fetch` for `CAPABILITY:fetch:host`.
 */
export function waives(pattern: string, ruleId: string): boolean {
  if (pattern.endsWith("*")) return ruleId.startsWith(pattern.slice(0, -1));
  return pattern === ruleId || (pattern.startsWith(CAPABILITY_PREFIX) && ruleId.startsWith(`${pattern}:`));
}

const CAPABILITY_PREFIX = "CAPABILITY:";

function parseWaives(text: string | undefined, report: (message: string) => void): readonly string[] {
  if (text === undefined) return [];
  const names = text.split(",").map((name) => name.trim());
  if (names.length > WAIVES_MAX)
    report(`\`@waives\` names ${names.length} rules, at most ${WAIVES_MAX} are possible; split the policy`);
  for (const name of names) {
    if (!WAIVE_PATTERN.test(name))
      report(
        `\`@waives\` names \`${name}\`, which is no rule id; separate ids by commas, such as \`dev.write-protected, CAPABILITY:shell\``,
      );
  }
  return names;
}
