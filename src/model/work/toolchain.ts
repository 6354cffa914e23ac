/**
 * Describes how a project is tested, linted and installed.
 *
 * The sources are the files in the project's root and the operator's choice. They are data, as they stood when a call
 * was analysed: the command that was approved is the command that runs, whatever the files say later.
 */

/** Files that are looked for in the root of a workspace. `text`: what they say is looked at as well. */
export const PROJECT_FILES = {
  "package.json": "text",
  "package-lock.json": "name",
  "npm-shrinkwrap.json": "name",
  "pnpm-lock.yaml": "name",
  "yarn.lock": "name",
  "pyproject.toml": "text",
  "setup.cfg": "text",
  "tox.ini": "text",
  "pytest.ini": "name",
  "conftest.py": "name",
  "ruff.toml": "name",
  ".ruff.toml": "name",
  ".flake8": "name",
  "poetry.lock": "name",
  "Cargo.toml": "name",
  "Cargo.lock": "name",
  "go.mod": "name",
  ".golangci.yml": "name",
  ".golangci.yaml": "name",
  ".golangci.toml": "name",
  ".golangci.json": "name",
  GNUmakefile: "text",
  makefile: "text",
  Makefile: "text",
} as const satisfies Readonly<Record<string, "text" | "name">>;
/** One of them. */
export type ProjectFileName = keyof typeof PROJECT_FILES;

/** A file that is there: what it says, where that is looked at, or why it cannot be. */
export interface ProjectFile {
  readonly text?: string;
  /** As the rest of a sentence about the file, such as `is larger than 64 KiB`. */
  readonly problem?: string;
}

/** A command of a project, without a shell. */
export type ToolchainCommand = readonly [string, ...string[]];

/** What the operator chose for a workspace, or a file of the workspace that the operator trusts. */
export interface ChosenToolchain {
  readonly test?: ToolchainCommand;
  readonly lint?: ToolchainCommand;
  /** Milliseconds that tests, linters and installations may take. */
  readonly timeoutMs?: number;
  readonly install?: {
    /** Packages may run their own scripts while they are installed. */
    readonly scripts: boolean;
    /** Hosts, as `host` or `host:port`, in place of the usual ones. */
    readonly registries: Readonly<Partial<Record<PackageManager, readonly string[]>>>;
  };
}

/** Managers that install what a lock file names. */
export const PACKAGE_MANAGERS = ["npm", "poetry", "cargo"] as const;
/** One of them. */
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** What is known of the toolchain of a workspace. */
export interface Toolchain {
  /** Those of `PROJECT_FILES` that are there and may be looked at. */
  readonly files: Readonly<Partial<Record<ProjectFileName, ProjectFile>>>;
  readonly chosen: ChosenToolchain;
  /** Files that a tool asked for besides, by path: as they stood when it first asked; `null` where there is none. */
  readonly further?: Readonly<Record<string, ProjectFile | null>>;
}

/** The toolchain of a workspace that nobody has looked at, as in an imagined call. */
export const UNKNOWN_TOOLCHAIN: Toolchain = { files: {}, chosen: {} };

/**
 * Looks at the toolchain when it is first asked for, and says the same from then on.
 * @param further paths of files that are to be among `further`; they become part of what an approval is bound to
 */
export type ToolchainView = (further?: readonly string[]) => Toolchain;
