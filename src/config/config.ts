/**
 * The operator's configuration, `handrail.yaml` in the operator directory, as parsed data.
 *
 * Pure: text in, settings out. Unknown keys are refused, because a misspelt protection is a missing one. Every problem
 * is named with its path in the file. The file is optional; defaults are the safe ones.
 */
import { parseDocument } from "yaml";
import * as z from "zod/mini";
import { KernelError } from "../base/errors.ts";
import { ALERT_VIOLATIONS_PER_MINUTE, CONFIG_FILE_BYTES_MAX, SESSION_LIFETIME_MAX_MS, SESSION_LIFETIME_MS } from "../base/limits.ts";
import { BUILT_IN_ROLES, ROLE_PATTERN } from "../model/role.ts";
import { DEFAULT_PRESET, PRESET_NAMES } from "../model/preset.ts";

const patterns = z.array(z.string().check(z.minLength(1), z.maxLength(4096)));
const role = z.string().check(z.regex(ROLE_PATTERN));

const files = z.strictObject({
  /** Patterns refused to every tool, in addition to the built-in secret zones. */
  secret: z._default(patterns, []),
  /** Directories of the project, read only, in addition to `shared/`, `contracts/`, `shared_contracts/`. */
  shared: z._default(patterns, []),
  read_only: z._default(patterns, []),
  /** Files whose writing asks, in addition to the built-in ones. */
  protected: z._default(patterns, []),
});

const workspace = z.strictObject({
  path: z.string().check(z.startsWith("/")),
  project_root: z.optional(z.string().check(z.startsWith("/"))),
  /** Roles that a client may ask for in this workspace. */
  roles: z._default(z.array(role), ["dev"]),
  preset: z.optional(z.enum(PRESET_NAMES)),
  isolation: z._default(z.enum(["STRICT", "SHARED"]), "STRICT"),
  files: z.optional(files),
});

const settings = z.strictObject({
  preset: z._default(z.enum(PRESET_NAMES), DEFAULT_PRESET),
  tools: z._default(z.strictObject({ enabled: z._default(z.boolean(), true), disabled: z._default(z.array(z.string()), []) }), {
    enabled: true,
    disabled: [],
  }),
  files: z._default(files, { secret: [], shared: [], read_only: [], protected: [] }),
  alert: z._default(
    z.strictObject({ violations_per_minute: z._default(z.int().check(z.gte(1), z.lte(1_000_000)), ALERT_VIOLATIONS_PER_MINUTE) }),
    { violations_per_minute: ALERT_VIOLATIONS_PER_MINUTE },
  ),
  sessions: z._default(
    z.strictObject({
      lifetime_seconds: z._default(z.int().check(z.gte(1), z.lte(SESSION_LIFETIME_MAX_MS / 1000)), SESSION_LIFETIME_MS / 1000),
    }),
    { lifetime_seconds: SESSION_LIFETIME_MS / 1000 },
  ),
  roles: z._default(z.array(role), [...BUILT_IN_ROLES]),
  workspaces: z._default(z.array(workspace), []),
});

/** Parsed `handrail.yaml`. */
export type Settings = z.infer<typeof settings>;
/** Additional zone patterns of a settings file. */
export type FileRules = z.infer<typeof files>;

/** The settings of an operator who wrote nothing. */
export function defaultSettings(): Settings {
  return settings.parse({});
}

/**
 * Parses the text of `handrail.yaml`.
 * @param name the file's name, for messages
 * @throws KernelError CONFIG_INVALID naming every problem
 */
export function parseSettings(text: string, name: string): Settings {
  const value = parseYaml(text, name);
  return accept(settings, value, name);
}

/** The narrowing rules a workspace may carry in its own `handrail.yaml`: it can hide and protect, never open. */
const narrowing = z.strictObject({
  tools: z._default(z.strictObject({ disabled: z._default(z.array(z.string()), []) }), { disabled: [] }),
  files: z._default(
    z.strictObject({ secret: z._default(patterns, []), read_only: z._default(patterns, []), protected: z._default(patterns, []) }),
    { secret: [], read_only: [], protected: [] },
  ),
});
/** Parsed `handrail.yaml` of a workspace. */
export type Narrowing = z.infer<typeof narrowing>;

/**
 * Parses the text of a workspace's `handrail.yaml`, which can only narrow.
 * @throws KernelError CONFIG_INVALID naming every problem, for instance a key that would widen
 */
export function parseNarrowing(text: string, name: string): Narrowing {
  return accept(narrowing, parseYaml(text, name), name);
}

function parseYaml(text: string, name: string): unknown {
  if (text.length > CONFIG_FILE_BYTES_MAX) throw new KernelError("CONFIG_INVALID", `\`${name}\` is larger than 1 MiB`);
  const document = parseDocument(text, { uniqueKeys: true, maxAliasCount: 100 } as Parameters<typeof parseDocument>[1]);
  const [error] = document.errors;
  if (error) throw new KernelError("CONFIG_INVALID", `\`${name}\` is not valid YAML: ${error.message.split("\n")[0]}`, error);
  return document.toJS() ?? {};
}

function accept<T extends z.core.$ZodType>(schema: T, value: unknown, name: string): z.core.output<T> {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "file"}: ${issue.message.toLowerCase()}`);
  throw new KernelError("CONFIG_INVALID", `\`${name}\`: ${problems.join("; ")}`);
}
