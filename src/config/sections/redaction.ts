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

/** Characters of a token without a name at least: shorter ones are met in every program. */
const RANDOM_CHARACTERS_LEAST = 20;
/** Characters up to which such a token is judged. */
const RANDOM_CHARACTERS_MOST = 256;
/** Bits that one of 64 different characters can have at most. */
const RANDOM_BITS_MOST = 6;

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
  /** Random-looking tokens that no name announces: whether they are looked for, and from what bar on. */
  random_tokens: z
    .strictObject({
      find: z.boolean().default(true),
      characters_min: z.number().int().min(RANDOM_CHARACTERS_LEAST).max(RANDOM_CHARACTERS_MOST).default(24),
      bits_min: z.number().min(3).max(RANDOM_BITS_MOST).default(3.9),
    })
    .prefault({}),
});

/** Parsed `redaction`. */
export type RedactionSettings = z.infer<typeof redactionSettings>;
