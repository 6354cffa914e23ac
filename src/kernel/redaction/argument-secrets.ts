/**
 * Collects the secrets in the arguments of a call by value.
 *
 * What analysis makes of a URL or a path may not look like a secret any more (`https:/user:password@host`), although
 * the secret in it is the same.
 */
import type { KnownSecret, Redactor, ValueJudge } from "../../redact/redact.ts";

/** Secrets by their values. `likely` ones are hidden in words and facts alone: they decide nothing. */
export interface ArgumentSecrets {
  readonly definite: Map<string, KnownSecret>;
  readonly likely: Map<string, KnownSecret>;
}

/** What collecting asks of the redaction of the call. */
export interface ArgumentLook {
  readonly redactor: Redactor;
  readonly known: readonly KnownSecret[];
  readonly judgeOf: (object: object, member: string) => ValueJudge | undefined;
  /** Whether a text is known to hold nothing. */
  readonly isClean: (text: string) => boolean;
  readonly noteClean: (text: string) => void;
}

/** Secrets of its arguments that one call knows by value: each is looked for in everything that leaves. */
const ARGUMENT_SECRETS_MAX = 64;
/** Characters of a likely secret that is known by value: fewer could be any word. */
const LIKELY_CHARACTERS_MIN = 12;
/**
 * Characters (UTF-16 code units) of the longest text that analysis makes names of: twice the longest command that is
 * read.
 */
export const ANALYSED_CHARACTERS_MAX = 64 * 1024;

/** The secrets in `args`, at any depth. */
export function secretsInArguments(args: Readonly<Record<string, unknown>>, look: ArgumentLook): ArgumentSecrets {
  const found: ArgumentSecrets = { definite: new Map(), likely: new Map() };
  const judgedBefore = new Set<string>();
  const collect = (value: unknown, judge?: ValueJudge): void => {
    if (found.definite.size + found.likely.size >= ARGUMENT_SECRETS_MAX) return;
    if (typeof value === "string") collectFrom(value, found, { ...look, judgedBefore, judge });
    else if (Array.isArray(value)) for (const item of value) collect(item, judge);
    else if (typeof value === "object" && value !== null && !(value instanceof Uint8Array))
      for (const [name, member] of Object.entries(value)) collect(member, look.judgeOf(value, name));
  };
  collect(args);
  return found;
}

function collectFrom(
  text: string,
  found: ArgumentSecrets,
  look: ArgumentLook & { readonly judgedBefore: Set<string>; readonly judge: ValueJudge | undefined },
): void {
  if (text.length > ANALYSED_CHARACTERS_MAX) return;
  const logins = look.redactor.loginSecrets(text);
  for (const { rule, kind, value } of logins) {
    const known = kind === "definite" ? found.definite : found.likely;
    for (const form of formsInNames(value)) known.set(form, { rule, value: form });
  }
  const judged = look.judge?.(text);
  if (judged === undefined && logins.length === 0 && look.isClean(text)) return;
  const findings = [...(judged === undefined ? [] : [judged]), ...look.redactor.find(text, look.known)];
  if (findings.length + logins.length === 0) look.noteClean(text);
  for (const { rule, kind, start, end } of findings) {
    const secret = text.slice(start, end);
    // Arguments may say the same one very often.
    const name = `${kind} ${rule} ${secret}`;
    if (look.judgedBefore.has(name)) continue;
    look.judgedBefore.add(name);
    // What is only likely must be long enough to mean this text; what is likely by itself is found again wherever it
    // stands.
    if (kind !== "definite" && (secret.length < LIKELY_CHARACTERS_MIN || look.redactor.find(secret).length > 0))
      continue;
    const known = kind === "definite" ? found.definite : found.likely;
    for (const form of formsInNames(secret)) known.set(form, { rule, value: form });
  }
}

/** A secret as it stands in names that are made of it: hosts are in lower case, and addresses without their escapes. */
function formsInNames(secret: string): readonly string[] {
  const plain = secret.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString(),
  );
  return [...new Set([secret, plain, secret.toLowerCase(), plain.toLowerCase()])];
}
