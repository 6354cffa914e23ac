/**
 * Tools that touch the machine itself: which there are, and what the operator lets them use of it.
 *
 * INVARIANT: nothing of the machine is used that does not stand here; without settings there are no such tools.
 */

/** Every tool that touches the machine itself. */
export const SYSTEM_TOOLS = ["install_package", "verify_binary", "system_ctl", "migrate_config"] as const;
const NAMES: ReadonlySet<string> = new Set(SYSTEM_TOOLS);

/** Whether a tool of that name touches the machine itself, also where it is switched off. */
export function isSystemTool(name: string): boolean {
  return NAMES.has(name);
}

/** Managers that install for the machine and not for a project. */
export const SYSTEM_MANAGERS = ["apt", "cargo", "npm-g"] as const;
/** One of them. */
export type SystemManager = (typeof SYSTEM_MANAGERS)[number];

/** What can be done with a service. */
export const SERVICE_ACTIONS = ["status", "restart"] as const;
/** One of them. */
export type ServiceAction = (typeof SERVICE_ACTIONS)[number];

/** A program that may run outside of the sandbox. */
export interface ListedProgram {
  /** Absolute. */
  readonly program: string;
  /** Needs the rights of root: where the kernel does not run as root it is started by sudo. */
  readonly sudo: boolean;
}

/** A package manager of the machine. */
export interface ListedManager extends ListedProgram {
  /** Milliseconds that an installation may take. */
  readonly timeoutMs: number;
  /** Packages run scripts of their own (npm alone). */
  readonly scripts: boolean;
  /** Where programs are installed (cargo alone); its own directory when absent. */
  readonly root?: string;
}

/** A program whose version can be asked for. */
export interface ListedBinary extends ListedProgram {
  /** The arguments that make it print its version. */
  readonly version: readonly string[];
}

/** A value that a migration sets. */
export type ConfigValue =
  | string
  | number
  | boolean
  | null
  | readonly ConfigValue[]
  | { readonly [name: string]: ConfigValue };

/** A place in a configuration file: the names that lead there. */
export type ConfigMember = readonly [string, ...string[]];

/** One change of a migration. */
export type MigrationStep =
  | { readonly kind: "rename"; readonly from: ConfigMember; readonly to: ConfigMember }
  | { readonly kind: "set" | "default"; readonly member: ConfigMember; readonly value: ConfigValue }
  | { readonly kind: "remove"; readonly member: ConfigMember };

/** What leads from one version of a configuration file to the next. */
export interface ConfigMigration {
  readonly from: string | number;
  readonly to: string | number;
  readonly steps: readonly MigrationStep[];
}

/** A configuration file that may be migrated. */
export interface ListedConfig {
  /** Of the workspace; ends in `.json`, `.yaml` or `.yml`. */
  readonly path: string;
  /** Where its version stands. */
  readonly version: ConfigMember;
  /** No two of them begin at the same version. */
  readonly migrations: readonly ConfigMigration[];
}

/** What the operator lets system tools use. */
export interface SystemSettings {
  /** Absolute; without it nothing is started with rights that the kernel does not have. */
  readonly sudo?: string;
  /** Directories in which programs are looked for. */
  readonly path: readonly string[];
  readonly packages: Readonly<Partial<Record<SystemManager, ListedManager>>>;
  readonly services?: ListedProgram & { readonly names: readonly string[] };
  readonly binaries: Readonly<Record<string, ListedBinary>>;
  readonly configFiles: Readonly<Record<string, ListedConfig>>;
}

/** Every program that may run outside of the sandbox, each once for each way to start it. */
export function listedPrograms({ packages, services, binaries }: SystemSettings): readonly ListedProgram[] {
  return [...Object.values(packages), ...(services ? [services] : []), ...Object.values(binaries)];
}
