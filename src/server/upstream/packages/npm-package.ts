/**
 * Installs an npm package that holds an upstream server, as the operator would, into a directory of Handrail's own.
 *
 * npm runs as the operator, with the operator's registry and credentials: it only fetches and unpacks. INVARIANT: no
 * script of a package runs outside of the sandbox, and what is installed is named by an exact version and the hash
 * that the registry gave for it.
 */
import { mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import * as z from "zod";
import { errorCode, usageError } from "../../../base/errors.ts";
import { runHostCommand } from "../../../sandbox/host-commands/run-host-command.ts";
import { trustedProgram } from "../../../sandbox/host-commands/trusted-program.ts";
import type { ScopeJudge } from "../../../sandbox/plan/workspace-mounts.ts";
import type { BesideDirectory } from "../../../sandbox/views/beside.ts";

/** Milliseconds of an installation, and characters of what npm says that are shown. */
const INSTALL_MS_MAX = 10 * 60_000;
const SAID_CHARACTERS_MAX = 2000;
const PROGRAMS = "/usr/local/bin:/usr/bin:/bin";
/** A package of a registry, with a version or a tag: never a path, an address or an alias. */
const REGISTRY_PACKAGE =
  /^(?<name>(?:@[a-z0-9][a-z0-9._-]{0,100}\/)?[a-z0-9][a-z0-9._-]{0,100})(?:@[A-Za-z0-9^~][A-Za-z0-9.+_-]{0,60})?$/;
/** Where a server finds its package inside. */
const PACKAGE_PLACE = "/mnt/package";
/** Variables of the operator's that say how packages are fetched. */
const FETCHING = /^(?:npm_config_|(?:https?|no)_proxy$|node_extra_ca_certs$)/i;

/** Which package, and what is started of it. */
export interface PackageWish {
  /** `NAME` or `NAME@VERSION`. */
  readonly spec: string;
  /** The program of the package; needed where it has several. */
  readonly program?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Where packages of servers are kept, each by the server's name. */
export function packageDirectory(stateDirectory: string, server: string): string {
  return join(stateDirectory, "upstream-packages", server);
}

const TO_READ: ScopeJudge = {
  entry: () => "read",
  below: () => "read",
  hidesRepository: () => false,
  isWhole: () => true,
};

/** How a server's process is shown its package: all of it, to read. */
export function shownPackage(directory: string): BesideDirectory {
  return { root: directory, target: PACKAGE_PLACE, judge: TO_READ };
}

/** What was installed. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** The path of the program as the server's process finds it. */
  readonly program: string;
}

const lockFile = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), integrity: z.string().optional() })),
});
const manifest = z.object({ bin: z.union([z.string(), z.record(z.string(), z.string())]).optional() });

/**
 * Installs a package in the place of one that is there.
 * @param directory an absolute path
 * @throws KernelError USAGE saying what npm said, or what to name
 */
export async function installNpmPackage(wish: PackageWish, directory: string): Promise<InstalledPackage> {
  const name = REGISTRY_PACKAGE.exec(wish.spec)?.groups?.["name"];
  if (name === undefined) throw usageError("a package is named `NAME` or `NAME@VERSION`, as a registry knows it");
  const made = `${directory}.new`;
  await rm(made, { recursive: true, force: true });
  await mkdir(made, { recursive: true, mode: 0o755 });
  try {
    await writeFile(join(made, "package.json"), '{ "private": true }\n');
    await runNpm(wish, made);
    const { version, integrity } = await lockedPackage(made, name);
    const program = await programOf(made, name, wish.program);
    await rm(directory, { recursive: true, force: true });
    await rename(made, directory);
    return { name, version, integrity, program: join(PACKAGE_PLACE, program) };
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

async function runNpm({ spec, environment }: PackageWish, directory: string): Promise<void> {
  const npm = npmOf(environment);
  let said = "";
  const take = (piece: Uint8Array) => {
    said = (said + Buffer.from(piece).toString("utf8")).slice(-SAID_CHARACTERS_MAX);
  };
  const quiet = ["--no-audit", "--no-fund", "--no-progress", "--no-update-notifier", "--loglevel=error"];
  const { exitCode, endedBy } = await runHostCommand(
    {
      argv: [npm, "install", "--ignore-scripts", "--omit=dev", "--save-exact", ...quiet, "--prefix", directory, spec],
      environment: { ...fetchingOf(environment), PATH: `${dirname(npm)}:${PROGRAMS}` },
      timeoutMs: INSTALL_MS_MAX,
    },
    { stdout: take, stderr: take },
    new AbortController().signal,
  );
  if (exitCode === 0) return;
  const why = endedBy === undefined ? said.trim() : `it was ended (${endedBy})`;
  throw usageError(`\`${spec}\` could not be installed: ${why}`);
}

/** The npm that the operator would start, where nobody else can change it. */
function npmOf({ PATH = PROGRAMS }: PackageWish["environment"]): string {
  let problem = "it is not installed";
  for (const directory of PATH.split(":").filter((one) => one.startsWith("/"))) {
    const path = join(directory, "npm");
    const found = trustedProgram(path, process.getuid?.() ?? 0);
    if (found.ok) return path;
    if (!found.isMissing) problem = `\`${path}\` ${found.problem}`;
  }
  throw usageError(`npm cannot be used: ${problem}`);
}

function fetchingOf(environment: PackageWish["environment"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([key, value]) =>
      FETCHING.test(key) && value !== undefined ? [[key, value]] : [],
    ),
  );
}

async function lockedPackage(directory: string, name: string) {
  const lock = lockFile.parse(JSON.parse(await readFile(join(directory, "package-lock.json"), "utf8")));
  const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined)
    throw usageError(`npm installed no \`${name}\` whose hash the registry gave`);
  return { version, integrity };
}

/** The path of the program in `directory`. */
async function programOf(directory: string, name: string, wanted: string | undefined): Promise<string> {
  const inside = join("node_modules", name);
  const { bin = {} } = manifest.parse(JSON.parse(await readFile(join(directory, inside, "package.json"), "utf8")));
  const plain = name.slice(name.indexOf("/") + 1);
  const programs = new Map(Object.entries(typeof bin === "string" ? { [plain]: bin } : bin));
  const names = [...programs.keys()];
  const chosen = wanted ?? (programs.has(plain) ? plain : names.length === 1 ? names[0] : undefined);
  const path = chosen === undefined ? undefined : programs.get(chosen);
  if (path === undefined)
    throw usageError(
      names.length === 0
        ? `\`${name}\` holds no program that could be started`
        : `name one of the programs of \`${name}\` with --bin: ${names.join(", ")}`,
    );
  const program = join(inside, path);
  const [real, root] = await Promise.all([realOf(join(directory, program)), realpath(directory)]);
  if (!real?.startsWith(`${root}${sep}`)) throw usageError(`the program \`${chosen}\` of \`${name}\` is not there`);
  return program;
}

async function realOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
