/**
 * Flow's `.flow/config.json`: what it says of a project's files, programs and secrets.
 *
 * INVARIANTS: what is read here can only take away; `allow_legacy_run_command` is never honoured; a pattern of a secret
 * that would hide ordinary text is refused.
 */
import * as z from "zod";
import { MAX_PATH_LEN } from "../../base/limits.ts";
import { escapeExpression } from "../../text/escaped-expression.ts";
import { CONFIG_LIST_ENTRIES_MAX } from "../sections/capabilities.ts";
import type { RedactionSettings } from "../sections/redaction.ts";
import type { GateFile } from "./gate-file.ts";
import { parseLocated, type UnreadKey } from "./located.ts";

/** What stands for any program where programs are listed. */
const ANY_PROGRAM = "*";
/** What stands for the rest of a token in a pattern of a secret. */
const WILDCARD = "...";
/** Characters of such a rest at least: shorter ones are words behind a hyphen. */
const REST_CHARACTERS_MIN = 16;
const REST_CHARACTERS_MAX = 256;
/** Characters of a keyword, by which the places are found that a rule looks at. */
const KEYWORD_CHARACTERS_MAX = 32;
/** Characters of a pattern without a rest at least. */
const LITERAL_CHARACTERS_MIN = 6;
/** What the rest of a token is made of. */
const REST = `[A-Za-z0-9_-]{${REST_CHARACTERS_MIN},${REST_CHARACTERS_MAX}}`;
/** A rest as a token may have one, for the rule's own example. */
const EXAMPLE_REST = "q7Zk2Xw9Vb4Ns8Ld";

const list = <T extends z.ZodType>(entry: T) => z.array(entry).max(CONFIG_LIST_ENTRIES_MAX);

const directory = z
  .string()
  .max(MAX_PATH_LEN)
  .refine((path) => !/[*?[\]{}\\\p{Cc}]/u.test(path), "must be a directory of the project, without wildcards")
  .refine((path) => !path.startsWith("/"), "must be relative to the project")
  .refine((path) => !path.split("/").includes(".."), "must not leave the project")
  .transform((path) =>
    path
      .split("/")
      .filter((part) => part !== "" && part !== ".")
      .join("/"),
  )
  .refine((path) => path !== "", "must name a directory below the project root");
const program = z
  .string()
  .min(1)
  .max(256)
  .refine((name) => !/[\s\p{Cc}]/u.test(name), "must be the name of one program");
const secretPattern = z
  .string()
  .max(128)
  .superRefine((pattern, context) => {
    const message = problemOfPattern(pattern);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

const schema = z.looseObject({
  scope: z
    .looseObject({
      service_isolation: z.enum(["STRICT", "SHARED"]).optional(),
      shared_paths: list(directory).optional(),
      block_patterns: list(z.string().min(1).max(MAX_PATH_LEN)).default([]),
    })
    .prefault({}),
  tools: z
    .looseObject({
      allow_legacy_run_command: z.boolean().default(false),
      whitelisted_binaries: list(program).optional(),
    })
    .prefault({}),
  secrets: z.looseObject({ redact_patterns: z.array(secretPattern).max(64).default([]) }).prefault({}),
});

/** What a `.flow/config.json` says. */
export interface FlowConfig {
  readonly isolation?: "STRICT" | "SHARED";
  /** Directories of the project that may be read besides the service; absent where nothing is said. */
  readonly sharedPaths?: readonly string[];
  /** Patterns of files that no tool touches. */
  readonly blockPatterns: readonly string[];
  /** The only programs that may run; absent where nothing, or any program, is said. */
  readonly binaries?: readonly string[];
  readonly wantsLegacyRunCommand: boolean;
  readonly redactPatterns: readonly string[];
  readonly unknown: readonly UnreadKey[];
}

/** Parses a `.flow/config.json`. @throws KernelError CONFIG_INVALID naming every problem with its line and column */
export async function parseFlowConfig(file: GateFile): Promise<FlowConfig> {
  const { value, unknown } = await parseLocated(schema, file);
  const { scope, tools, secrets } = value;
  const { service_isolation: isolation, shared_paths: sharedPaths, block_patterns: blockPatterns } = scope;
  const { whitelisted_binaries: listed } = tools;
  const binaries = listed?.includes(ANY_PROGRAM) ? undefined : listed;
  return {
    ...(isolation && { isolation }),
    ...(sharedPaths && { sharedPaths }),
    blockPatterns,
    ...(binaries && { binaries }),
    wantsLegacyRunCommand: tools.allow_legacy_run_command,
    redactPatterns: secrets.redact_patterns,
    unknown,
  };
}

/** What of it has no effect, for people. */
export function unhonoured({ wantsLegacyRunCommand, unknown }: FlowConfig): readonly string[] {
  return [
    ...(wantsLegacyRunCommand
      ? [
          "tools.allow_legacy_run_command: there is no `run_command`, and nothing brings it back; `shell` is judged by policy",
        ]
      : []),
    ...unknown.map(({ key, line, column }) => `line ${line}, column ${column}: \`${key}\` has no meaning here`),
  ];
}

/** A rule of redaction for `pattern`, in which `...` stands for the rest of a token. @param id stands in the marker */
export function redactionRuleOf(pattern: string, id: string): RedactionSettings["rules"][number] {
  const hasRest = pattern.endsWith(WILDCARD);
  const literal = hasRest ? pattern.slice(0, -WILDCARD.length) : pattern;
  return {
    id,
    kind: "definite",
    title: `what the pattern \`${pattern}\` finds`,
    keywords: [literal.slice(0, KEYWORD_CHARACTERS_MAX)],
    expression: `${escapeExpression(literal)}${hasRest ? REST : ""}`,
    case_insensitive: false,
    examples: { secret: [`${literal}${hasRest ? EXAMPLE_REST : ""}`], clean: [] },
  };
}

function problemOfPattern(pattern: string): string | undefined {
  const hasRest = pattern.endsWith(WILDCARD);
  const literal = hasRest ? pattern.slice(0, -WILDCARD.length) : pattern;
  if (literal.includes(WILDCARD)) return "`...` stands for the rest of a token, at the end of a pattern alone";
  if (!/^[\x21-\x7e]+$/.test(literal)) return "must begin with ASCII text that such a secret begins with";
  if (hasRest && literal.length < 2) return "must begin with two characters at least, or it would hide ordinary text";
  if (!hasRest && literal.length < LITERAL_CHARACTERS_MIN)
    return `must have ${LITERAL_CHARACTERS_MIN} characters at least, or end with \`...\``;
  return undefined;
}
