/**
 * The settings of redaction in `handrail.yaml`: own rules, what may be shown, and which variables hold secrets.
 *
 * Only shapes and bounds are checked here; whether a rule is fast enough and finds its own examples is checked by the
 * redactor when the settings are loaded.
 */
import * as z from "zod";
import { KIB } from "../../base/bytes.ts";

/** Redaction rules, and allowances, that an operator may add: each costs memory in every kernel. */
const REDACTION_RULES_MAX = 256;
/** Characters of an example of such a rule. */
const REDACTION_EXAMPLE_CHARACTERS_MAX = 4 * KIB;

const EXAMPLES_MAX = 32;
const KEYWORDS_MAX = 16;
const example = z.string().min(1).max(REDACTION_EXAMPLE_CHARACTERS_MAX);
const examples = z.array(example).max(EXAMPLES_MAX);
const title = z.string().min(1).max(200);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/);

const rule = z.strictObject({
  id: z.string(),
  /** `definite` unless said otherwise. */
  kind: z.enum(["definite", "probable"]).default("definite"),
  /** What is found, in words. */
  title: title.optional(),
  keywords: z.array(z.string()).min(1).max(KEYWORDS_MAX),
  expression: z.string().min(1),
  case_insensitive: z.boolean().default(false),
  /** A rule without an example is not known to work. */
  examples: z.strictObject({ secret: examples.min(1), clean: examples.default([]) }),
});

const allowance = z.strictObject({
  value: example.optional(),
  expression: z.string().min(1).optional(),
  rule: z.string().optional(),
  /** Why it is no secret: whoever reads the file later has to know. */
  reason: title,
  examples: z.strictObject({ allowed: examples.default([]), hidden: examples.default([]) }).prefault({}),
});

/** The schema of `redaction`. */
export const redactionSettings = z.strictObject({
  rules: z.array(rule).max(REDACTION_RULES_MAX).default([]),
  allow: z.array(allowance).max(REDACTION_RULES_MAX).default([]),
  /**
   * Variables of the kernel's environment whose values are secrets, and such that are none, whatever they look like.
   */
  environment: z
    .strictObject({
      secret: z.array(variable).max(REDACTION_RULES_MAX).default([]),
      harmless: z.array(variable).max(REDACTION_RULES_MAX).default([]),
    })
    .prefault({}),
});

/** Parsed `redaction`. */
export type RedactionSettings = z.infer<typeof redactionSettings>;
