/**
 * Defines the operator's overrides of single tools' capabilities in `handrail.yaml`.
 *
 * Each part of a capability is replaced as a whole. A list replaces the tool's own, so what is written there is what is
 * in force. Only shapes and bounds are checked here. Whether a pattern can be tried in linear time is checked when the
 * settings are loaded.
 */
import * as z from "zod";
import { DANGER_PATTERN_CHARACTERS_MAX, DANGER_PATTERNS_MAX } from "../../base/limits.ts";
import { ROLE_PATTERN } from "../../model/people/role.ts";

/** Tools whose capability the operator may override. */
const CAPABILITY_OVERRIDES_MAX = 256;
/** Characters of the name of a host (RFC 1035), with room for `*.`, or of a provider. */
export const HOST_CHARACTERS_MAX = 255;
/** Entries of one list in a configuration file: each pattern is tried on every path. */
export const CONFIG_LIST_ENTRIES_MAX = 256;

const host = z
  .string()
  .regex(/^(?:\*\.)?[A-Za-z0-9_.:[\]-]+$/, "must be a host, or `*.` and a domain for every host below it")
  .max(HOST_CHARACTERS_MAX);
const name = z.string().min(1).max(HOST_CHARACTERS_MAX);
const listOf = <T extends z.ZodType>(entry: T) => z.array(entry).max(CONFIG_LIST_ENTRIES_MAX);

/** A regular expression as `/source/flags`, or its source alone. */
const dangerPattern = z
  .string()
  .min(1)
  .max(DANGER_PATTERN_CHARACTERS_MAX)
  .refine(
    (text) => regularExpression(text) !== undefined,
    "must be a regular expression, such as `rm\\s+-rf` or `/rm\\s+-rf/i`",
  );

/** The parts of a capability that can be replaced. */
export const capabilityParts = {
  approval: z.enum(["auto", "ask", "always_deny"]).optional(),
  requires_arming: z.boolean().optional(),
  /** `null` takes a required role away. */
  required_role: z.string().regex(ROLE_PATTERN).nullable().optional(),
  danger_patterns: z.array(dangerPattern).max(DANGER_PATTERNS_MAX).optional(),
  method_requires_approval: listOf(z.string().regex(/^[A-Za-z]{1,16}$/, "must be the name of a method")).optional(),
  unknown_host_requires_approval: z.boolean().optional(),
  network_mode: z.enum(["none", "allowlist", "any"]).optional(),
  allowed_hosts: listOf(host).optional(),
  allowed_providers: listOf(name).optional(),
  blocked_ports: listOf(z.int().min(1).max(65_535)).optional(),
  block_private_ips: z.boolean().optional(),
  block_metadata_endpoints: z.boolean().optional(),
  log_args: z.boolean().optional(),
  /**
   * What commands of the tool must be contained by; `none` only counts where the kernel runs them without a sandbox.
   */
  sandbox: z.enum(["none", "process", "container"]).optional(),
};
const override = z.strictObject(capabilityParts);

/** The schema of `capabilities`: overrides by the name of the tool. */
export const capabilitySettings = z
  .record(
    z
      .string()
      .regex(/^(?:[a-z][a-z0-9_]{0,63}|mcp\.[a-z][a-z0-9]{0,31}\.[A-Za-z0-9_-]{1,64})$/, "must be the name of a tool"),
    override,
  )
  .refine(
    (tools) => Object.keys(tools).length <= CAPABILITY_OVERRIDES_MAX,
    `must name at most ${CAPABILITY_OVERRIDES_MAX} tools`,
  );

/** What the operator says about one tool. */
export type CapabilityOverride = z.infer<typeof override>;

/** The pattern that a text of `danger_patterns` means; `undefined` when it is none. */
export function regularExpression(text: string): RegExp | undefined {
  const [, source = text, flags = ""] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  try {
    return new RegExp(source, flags);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
