/**
 * The operator's configuration, `handrail.yaml` in the operator directory, as parsed data.
 *
 * Pure: text in, settings out. Unknown keys are refused, because a misspelt protection is a missing one. Every problem
 * is named with its path in the file. The file is optional; defaults are the safe ones.
 */

import * as z from "zod";
import {
  CONFIG_FILE_BYTES_MAX,
  MAX_PATH_LEN,
  SESSION_LIFETIME_MAX_MS,
  WORKSPACE_CONFIG_BYTES_MAX,
} from "../base/limits.ts";
import { PRESET_NAMES } from "../model/people/preset.ts";
import { BUILT_IN_ROLES, ROLE_PATTERN } from "../model/people/role.ts";
import type { FlowConfig } from "./files/flow-config.ts";
import { acceptGate } from "./files/gate-file.ts";
import { parseYaml } from "./files/yaml.ts";
import { approvalSettings } from "./sections/approvals.ts";
import { CONFIG_LIST_ENTRIES_MAX, capabilitySettings } from "./sections/capabilities.ts";
import { evidenceSettings } from "./sections/evidence.ts";
import { limitSettings } from "./sections/limits.ts";
import { logSettings, metricsSettings, problemOfHeader, telemetrySettings } from "./sections/observability.ts";
import { redactionSettings } from "./sections/redaction.ts";
import { sandboxSettings } from "./sections/sandbox.ts";
import { secretSettings } from "./sections/secrets.ts";
import { ownToolchainSettings, toolchainSettings } from "./sections/toolchain.ts";
import { componentsSettings, pluginSettings, taskSettings } from "./sections/tools/added-tools.ts";
import { gitSettings, problemOfPassword } from "./sections/tools/git.ts";
import { gitRuleSettings, ownGitRuleSettings } from "./sections/tools/git-rules.ts";
import { languageServerSettings } from "./sections/tools/language-servers.ts";
import {
  chromaOf,
  knowledgeSettings,
  modelSettings,
  problemOfEmbeddings,
  problemOfSecret,
  problemOfVectors,
  providersOf,
} from "./sections/tools/models.ts";
import { systemSettings } from "./sections/tools/system.ts";
import { upstreamSettings } from "./sections/tools/upstream.ts";
import { webSettings } from "./sections/tools/web.ts";
import { undoSettings } from "./sections/undo.ts";

/** Violations in a minute that raise the alarm when the operator says nothing (Flow §7.2). */
const ALERT_VIOLATIONS_PER_MINUTE = 5;
/** Milliseconds a new session lives when the operator says nothing: one working day. */
const SESSION_LIFETIME_MS = 12 * 3_600_000;

const listOf = <T extends z.ZodType>(entry: T) => z.array(entry).max(CONFIG_LIST_ENTRIES_MAX);
const patterns = listOf(z.string().min(1).max(MAX_PATH_LEN));
/**
 * A directory below the project root, as `a/b`: paths are compared with it as they are, so no other spelling may be
 * left.
 */
const directory = z
  .string()
  .max(MAX_PATH_LEN)
  .refine((path) => !/[*?[\]{}\\]/.test(path), "must be a directory of the project, without wildcards")
  .refine((path) => !path.split("/").includes(".."), "must not leave the project")
  .transform(withoutOddParts)
  .refine((path) => path !== "", "must name a directory below the project root");
const role = z.string().regex(ROLE_PATTERN);

const files = z.strictObject({
  /** Patterns refused to every tool, in addition to the built-in secret zones. */
  secret: patterns.default([]),
  /** Directories of the project, read only, in addition to `shared/`, `contracts/`, `shared_contracts/`. */
  shared: listOf(directory).default([]),
  read_only: patterns.default([]),
  /** Files whose writing asks, in addition to the built-in ones. */
  protected: patterns.default([]),
});

const workspace = z.strictObject({
  path: z.string().startsWith("/"),
  project_root: z.string().startsWith("/").optional(),
  /** Roles that a client may ask for in this workspace. */
  roles: listOf(role).default(["dev"]),
  preset: z.enum(PRESET_NAMES).optional(),
  /** Whether it may be `/`, a home directory or a directory of the system. */
  allow_unusual: z.boolean().optional(),
  isolation: z.enum(["STRICT", "SHARED"]).default("STRICT"),
  files: files.optional(),
  /** How the workspace is tested and linted; what is not said is found in its files. */
  toolchain: toolchainSettings.optional(),
  /** Branches and messages; each key stands before what is said of all workspaces. */
  git: gitRuleSettings.optional(),
});

const tools = z.strictObject({ enabled: z.boolean().default(true), disabled: listOf(z.string()).default([]) });
const alert = z.strictObject({
  violations_per_minute: z.int().min(1).max(1_000_000).default(ALERT_VIOLATIONS_PER_MINUTE),
  /** Whether more violations freeze the agent until a person has reviewed it; otherwise they are recorded only. */
  freeze: z.boolean().default(true),
});
const sessions = z.strictObject({
  lifetime_seconds: z
    .int()
    .min(1)
    .max(SESSION_LIFETIME_MAX_MS / 1000)
    .default(SESSION_LIFETIME_MS / 1000),
});

/** The schema of the operator's `handrail.yaml`. */
export const settingsSchema = z
  .strictObject({
    /** Absent when the operator chose none. */
    preset: z.enum(PRESET_NAMES).optional(),
    tools: tools.prefault({}),
    files: files.prefault({}),
    alert: alert.prefault({}),
    approvals: approvalSettings.prefault({}),
    sessions: sessions.prefault({}),
    limits: limitSettings.prefault({}),
    redaction: redactionSettings.prefault({}),
    /** What the operator says about single tools. */
    capabilities: capabilitySettings.default({}),
    sandbox: sandboxSettings.prefault({}),
    git: gitSettings.prefault({}),
    web: webSettings.prefault({}),
    /** Secrets that agents use and never see. */
    secrets: secretSettings.default({}),
    /** Providers of models that agents may ask; without one there is no tool for it. */
    models: modelSettings.default({}),
    undo: undoSettings.prefault({}),
    /** Servers that know code better than its syntax tells. */
    language_servers: languageServerSettings.prefault({}),
    upstream: upstreamSettings.prefault({}),
    /** Whether questions to the index of a workspace are also answered by meaning. */
    knowledge: knowledgeSettings.default({}),
    /** Modules of plugins, in the operator's directory; taken over at the next start. */
    plugins: pluginSettings,
    /** Where tasks are kept that agents create for others; without it there is no tool for it. */
    tasks: taskSettings.optional(),
    /** Which documents of calls are kept as evidence. */
    evidence: evidenceSettings.prefault({}),
    /** What system tools may use of the machine; without it there are no such tools. */
    system: systemSettings.optional(),
    /** What WebAssembly components in the operator's directory may use, by file name without `.wasm`. */
    components: componentsSettings,
    /** Where `handrail serve` answers Prometheus. */
    metrics: metricsSettings.prefault({}),
    /** Where traces and security events are sent. */
    telemetry: telemetrySettings.prefault({}),
    /** Structured logs; without it there are only lines for people. */
    log: logSettings.optional(),
    roles: listOf(role).default([...BUILT_IN_ROLES]),
    workspaces: listOf(workspace).default([]),
  })
  .superRefine(({ models, git, secrets, knowledge, telemetry: { otlp } }, context) => {
    const unusable = problemOfEmbeddings(knowledge, providersOf(models));
    if (unusable !== undefined)
      context.addIssue({ code: "custom", path: ["knowledge", "embeddings", "provider"], message: unusable });
    const vectors = problemOfVectors(knowledge);
    if (vectors !== undefined)
      context.addIssue({ code: "custom", path: ["knowledge", "vectors", "url"], message: vectors });
    const chroma = chromaOf(knowledge)?.service;
    const unknown = chroma && problemOfSecret(chroma, secrets);
    if (unknown !== undefined)
      context.addIssue({ code: "custom", path: ["knowledge", "vectors", "secret"], message: unknown });
    for (const name of Object.keys(otlp?.headers ?? {})) {
      const message = otlp && problemOfHeader(otlp, name, secrets);
      const path = ["telemetry", "otlp", "headers", name, "secret"];
      if (message !== undefined) context.addIssue({ code: "custom", path, message });
    }
    for (const [index, credential] of git.credentials.entries()) {
      const message = problemOfPassword(credential, secrets);
      const path = ["git", "credentials", index, "password", "secret"];
      if (message !== undefined) context.addIssue({ code: "custom", path, message });
    }
    for (const provider of providersOf(models)) {
      const message = problemOfSecret(provider, secrets);
      if (message !== undefined)
        context.addIssue({ code: "custom", path: ["models", provider.name, "secret"], message });
    }
  })
  .superRefine(({ roles, workspaces, capabilities }, context) => {
    const require = (role: string, path: PropertyKey[]) => {
      if (!roles.includes(role)) context.addIssue({ code: "custom", path, message: undefinedRole(role) });
    };
    for (const [index, entry] of workspaces.entries())
      for (const [place, granted] of entry.roles.entries()) require(granted, ["workspaces", index, "roles", place]);
    for (const [tool, { required_role: required }] of Object.entries(capabilities))
      if (required != null) require(required, ["capabilities", tool, "required_role"]);
  });

function undefinedRole(role: string): string {
  return `the role \`${role}\` is not defined; add it to \`roles\`, or correct its name`;
}

/** Parsed `handrail.yaml`. */
export type Settings = z.infer<typeof settingsSchema>;
/** Additional zone patterns of a settings file. */
export type FileRules = z.infer<typeof files>;

/** The settings of an operator who wrote nothing. */
export function defaultSettings(): Settings {
  return settingsSchema.parse({});
}

/**
 * Parses the text of `handrail.yaml`.
 * @param name the file's name, for messages
 * @throws KernelError CONFIG_INVALID naming every problem
 */
export async function parseSettings(text: string, name: string): Promise<Settings> {
  return acceptGate(settingsSchema, await parseYaml(text, name, CONFIG_FILE_BYTES_MAX), name);
}

/**
 * What a workspace may carry in its own `handrail.yaml`: it can hide and protect. `files.shared` opens directories of
 * the project to reading, and `toolchain` says which programs the tests and the linter are: those widen, and have no
 * effect until the operator trusts the very file.
 */
export const workspaceSettingsSchema = z.strictObject({
  tools: tools.omit({ enabled: true }).prefault({}),
  files: files.prefault({}),
  toolchain: ownToolchainSettings.optional(),
  /** Further protected branches. */
  git: ownGitRuleSettings.optional(),
});
/** Parsed `handrail.yaml` of a workspace. */
export type WorkspaceSettings = z.infer<typeof workspaceSettingsSchema>;

/** The settings of a workspace that says nothing. */
export function noWorkspaceSettings(): WorkspaceSettings {
  return workspaceSettingsSchema.parse({});
}

/**
 * Parses the text of a workspace's `handrail.yaml`.
 * @throws KernelError CONFIG_INVALID naming every problem, for instance a key that only the operator has
 */
export async function parseWorkspaceSettings(text: string, name: string): Promise<WorkspaceSettings> {
  return acceptGate(workspaceSettingsSchema, await parseYaml(text, name, WORKSPACE_CONFIG_BYTES_MAX), name);
}

/**
 * The keys of a workspace's settings that widen, and so need trust.
 * @param flow what its `.flow/config.json` says, if it has one
 */
export function wideningKeys({ files, toolchain }: WorkspaceSettings, flow?: FlowConfig): readonly string[] {
  return [
    ...((flow?.sharedPaths ?? []).length > 0 ? ["scope.shared_paths"] : []),
    ...(files.shared.length > 0 ? ["files.shared"] : []),
    ...(toolchain?.test ? ["toolchain.test"] : []),
    ...(toolchain?.lint ? ["toolchain.lint"] : []),
  ];
}

/** `path` without `.` and empty components. */
function withoutOddParts(path: string): string {
  return path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
}
