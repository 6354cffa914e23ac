/**
 * Defines the section `system` of `handrail.yaml`: what system tools may use of the machine.
 *
 * Only the operator grants this, and without the section there are no such tools. Programs are absolute paths and never
 * looked up. Services and configuration files are named one by one.
 */
import * as z from "zod";
import { MAX_ARG_LEN, MAX_PATH_LEN, MAX_TIMEOUT_MS } from "../../../base/limits.ts";
import type {
  ConfigMember,
  ConfigValue,
  ListedManager,
  MigrationStep,
  SystemManager,
  SystemSettings,
} from "../../../model/work/system.ts";

/** Milliseconds that an installation may take when the operator does not say: cargo compiles. */
const SYSTEM_INSTALL_TIMEOUT_MS = 30 * 60_000;
/** Directories in which programs are looked for. */
const SYSTEM_PATH_MAX = 16;
/** Programs, services or configuration files that the operator lists, of each. */
const SYSTEM_LISTED_MAX = 256;
/** Words of the arguments that make a program print its version. */
const SYSTEM_VERSION_WORDS_MAX = 4;
/** Migrations of one configuration file, and steps of one migration. */
const CONFIG_MIGRATIONS_MAX = 256;
/** Names that lead to a member of a configuration file. */
const CONFIG_DEPTH_MAX = 32;

const absolute = z
  .string()
  .max(MAX_PATH_LEN)
  .refine((path) => path.startsWith("/") && !path.includes("\0"), "must be an absolute path")
  .refine(
    (path) => !path.split("/").includes("..") && !path.endsWith("/"),
    "must name the place itself, without `..` or a `/` at its end",
  );
const timeoutSeconds = z
  .int()
  .min(1)
  .max(MAX_TIMEOUT_MS / 1000)
  .default(SYSTEM_INSTALL_TIMEOUT_MS / 1000);

const manager = (sudo: boolean) => ({
  program: absolute,
  sudo: z.boolean().default(sudo),
  timeout_seconds: timeoutSeconds,
});
const packages = z.strictObject({
  apt: z.strictObject(manager(true)).optional(),
  cargo: z.strictObject({ ...manager(false), root: absolute.optional() }).optional(),
  "npm-g": z.strictObject({ ...manager(true), scripts: z.boolean().default(false) }).optional(),
});

/** A unit as systemd names it: no path, no option, no pattern. */
const SERVICE = /^[A-Za-z0-9][A-Za-z0-9:_.@-]{0,127}$/;
const service = z.string().regex(SERVICE, "must be the name of a service, as in `nginx` or `app@1.service`");
const services = z.strictObject({
  program: absolute.default("/usr/bin/systemctl"),
  sudo: z.boolean().default(true),
  names: z.array(service).min(1).max(SYSTEM_LISTED_MAX),
});

const BINARY = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}$/;
const name = z.string().regex(BINARY, "must be a name without a path");
const binary = z.strictObject({
  program: absolute,
  version: z.array(z.string().min(1).max(MAX_ARG_LEN)).min(1).max(SYSTEM_VERSION_WORDS_MAX).default(["--version"]),
});

/** `a.b.c`: the names that lead to a member. */
const member = z
  .string()
  .max(MAX_PATH_LEN)
  .transform((text) => text.split("."))
  .refine(
    (parts) => parts.length <= CONFIG_DEPTH_MAX && parts.every((part) => part !== "" && part !== "__proto__"),
    "must be names with `.` between them",
  )
  .transform((parts) => parts as unknown as ConfigMember);
const value: z.ZodType<ConfigValue> = z.json();
const step = z.union([
  z.strictObject({ rename: z.strictObject({ from: member, to: member }) }),
  z.strictObject({ set: z.strictObject({ member, value }) }),
  z.strictObject({ default: z.strictObject({ member, value }) }),
  z.strictObject({ remove: z.strictObject({ member }) }),
]);
const version = z.union([z.string().min(1).max(64), z.int()]);
const migration = z.strictObject({
  from: version,
  to: version,
  steps: z.array(step).max(CONFIG_MIGRATIONS_MAX).default([]),
});

/** A file of the workspace, by a path that leads nowhere else. */
const workspaceFile = z
  .string()
  .max(MAX_PATH_LEN)
  .refine(
    (path) => !path.startsWith("/") && path.split("/").every((part) => part !== "" && part !== "." && part !== ".."),
    {
      message: "must be the path of a file, relative to the workspace",
    },
  )
  .refine((path) => /\.(?:json|ya?ml)$/.test(path), "must end in `.json`, `.yaml` or `.yml`");
const configFile = z.strictObject({
  path: workspaceFile,
  version: member,
  migrations: z
    .array(migration)
    .min(1)
    .max(CONFIG_MIGRATIONS_MAX)
    .refine(
      (all) => new Set(all.map(({ from }) => String(from))).size === all.length,
      "no two migrations may begin at the same version",
    ),
});

/** The section `system` of `handrail.yaml`. */
export const systemSettings = z.strictObject({
  sudo: absolute.optional(),
  /** Directories in which `verify_binary` looks. */
  path: z
    .array(absolute)
    .max(SYSTEM_PATH_MAX)
    .default(["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]),
  packages: packages.prefault({}),
  services: services.optional(),
  binaries: z.record(name, binary).default({}),
  config_files: z.record(name, configFile).default({}),
});
/** Parsed. */
export type ParsedSystemSettings = z.infer<typeof systemSettings>;

/** What system tools may use, by the parsed section. */
export function systemOf(parsed: ParsedSystemSettings): SystemSettings {
  const { sudo, path, services: listed, binaries, config_files: files } = parsed;
  return {
    ...(sudo !== undefined && { sudo }),
    path,
    packages: managersOf(parsed.packages),
    ...(listed && { services: listed }),
    binaries: mapped(binaries, (one) => ({ ...one, sudo: false })),
    configFiles: mapped(files, ({ migrations, ...file }) => ({
      ...file,
      migrations: migrations.map(({ steps, ...ends }) => ({ ...ends, steps: steps.map(stepOf) })),
    })),
  };
}

function managersOf(listed: ParsedSystemSettings["packages"]): SystemSettings["packages"] {
  const found: Partial<Record<SystemManager, ListedManager>> = {};
  for (const [id, one] of Object.entries(listed) as [
    SystemManager,
    NonNullable<(typeof listed)[SystemManager]> & { root?: string; scripts?: boolean },
  ][]) {
    const { timeout_seconds: seconds, program, sudo, root, scripts = false } = one;
    found[id] = { program, sudo, scripts, timeoutMs: seconds * 1000, ...(root !== undefined && { root }) };
  }
  return found;
}

function stepOf(one: z.infer<typeof step>): MigrationStep {
  if ("rename" in one) return { kind: "rename", ...one.rename };
  if ("set" in one) return { kind: "set", ...one.set };
  if ("default" in one) return { kind: "default", ...one.default };
  return { kind: "remove", ...one.remove };
}

function mapped<In, Out>(given: Readonly<Record<string, In>>, map: (one: In) => Out): Readonly<Record<string, Out>> {
  return Object.fromEntries(Object.entries(given).map(([key, one]) => [key, map(one)]));
}
