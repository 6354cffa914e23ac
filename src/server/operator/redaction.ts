/**
 * The redactor as the operator configured it: built-in rules, the operator's own ones, and the secrets of the kernel's
 * environment.
 */
import { fileInvalid } from "../../base/errors.ts";
import type { RedactionSettings } from "../../config/sections/redaction.ts";
import { type CustomRule, compileCustomRedaction } from "../../redact/custom-rules.ts";
import { secretsOfEnvironment } from "../../redact/environment.ts";
import { type EntropyBar, USUAL_BAR } from "../../redact/kinds/free-standing.ts";
import type { KnownSecret } from "../../redact/kinds/known-secret.ts";
import { createRedactor, type Redactor, type RedactorOptions } from "../../redact/redact.ts";
import { type RuleSet, withBar } from "../../redact/rule-set.ts";
import { handrailVersion } from "./package-files.ts";

/** Settings of redaction, with rules from wherever they are. */
type RedactionChoice = Omit<RedactionSettings, "rules"> & { readonly rules: readonly CustomRule[] };

/**
 * Makes the redactor.
 * @param name the settings file's name, for messages
 * @param more secrets that are known besides; `placeholders` stand for secrets, and are none
 * @throws KernelError CONFIG_INVALID naming every rule and allowance that cannot be used
 */
export function openRedactor(
  settings: RedactionChoice,
  environment: Readonly<Record<string, string | undefined>>,
  {
    name,
    more = [],
    placeholders = [],
  }: {
    readonly name: string;
    readonly more?: readonly KnownSecret[];
    readonly placeholders?: readonly string[];
  },
): Redactor {
  const { rules, allow: named } = checkRedaction(settings, name);
  const allow = withPlaceholders(named, placeholders);
  const known = [...secretsOfEnvironment(environment, settings.environment), ...more];
  return createRedactor({ known, rules, release: handrailVersion(), ...(allow && { allow }) });
}

function withPlaceholders(
  named: RedactorOptions["allow"],
  placeholders: readonly string[],
): RedactorOptions["allow"] | undefined {
  if (placeholders.length === 0) return named;
  const all = new Set(placeholders);
  return {
    allows: (rule, secret) => all.has(secret) || named?.allows(rule, secret) === true,
    definition: JSON.stringify([named?.definition ?? null, [...all].sort()]),
  };
}

/**
 * Compiles the operator's rules and allowances. @throws KernelError CONFIG_INVALID naming every one that cannot be used
 */
export function checkRedaction(
  settings: RedactionChoice,
  name: string,
): Pick<RedactorOptions, "allow"> & { readonly rules: RuleSet } {
  const custom = compileCustomRedaction(settings.rules, settings.allow);
  if (!custom.ok) {
    const problems = custom.problems.map(({ path, problem }) => `redaction.${path}: ${problem}`);
    throw fileInvalid(name, problems);
  }
  return { rules: withBar(custom.rules, barOf(settings)), ...(custom.allow && { allow: custom.allow }) };
}

/** The bar for tokens without a name; `undefined` when none are looked for. */
function barOf({ random_tokens }: RedactionChoice): EntropyBar | undefined {
  const { find, characters_min, bits_min } = random_tokens;
  return find ? { ...USUAL_BAR, charactersMin: characters_min, bitsMin: bits_min } : undefined;
}
