/**
 * The npm package as its users have it: built once, installed from its tarball into empty folders outside of the
 * checkout, and run by the Node that a test names.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ORDINARY_USER_ID } from "./other-user.ts";
import { STUCK_MS } from "./waiting.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The oldest Node that the package says it runs on. */
const OLDEST_NODE = "22.18.0";

/**
 * Where this machine's npm finds packages, and whom it trusts for them: all that a place has of the developer's own.
 * npm reads it beside the machine's Node, which the tests need not run on.
 */
function wayToRegistry(): Readonly<Record<string, string>> {
  const { PATH = "", NODE_EXTRA_CA_CERTS: certificates } = process.env;
  const machines = PATH.split(delimiter).filter((directory) => directory !== dirname(process.execPath));
  const env = { ...process.env, PATH: machines.join(delimiter) };
  const set = ["registry", "cafile", "https-proxy", "noproxy"].flatMap((key) => {
    const value = spawnSync("npm", ["config", "get", key], { encoding: "utf8", env }).stdout.trim();
    return value === "" || value === "null" ? [] : [[`npm_config_${key.replaceAll("-", "_")}`, value]];
  });
  return { ...Object.fromEntries(set), ...(certificates && { NODE_EXTRA_CA_CERTS: certificates }) };
}

/** Who installs and runs the package. */
export type Who = "this user" | "an ordinary user";

/** What a finished program left. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder that holds everything of a test; nothing of the checkout is in it. */
export class Elsewhere {
  readonly base: string;
  /** Directories of the Nodes, by what they are called. */
  readonly nodes: Readonly<Record<"oldest" | "current", string>>;
  readonly #user: number | undefined;
  /** Variables with which npm finds packages. */
  readonly registry = wayToRegistry();

  constructor(who: Who) {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "handrail-elsewhere-")));
    this.#user = who === "an ordinary user" && process.geteuid?.() === 0 ? ORDINARY_USER_ID : undefined;
    this.nodes = { oldest: this.#nodeAt("oldest", oldestNode()), current: this.#nodeAt("current", process.execPath) };
    for (const name of ["", "home", "workspace", "prefix", "project"]) this.make(name);
  }

  /** Makes a folder that belongs to the user. */
  make(name: string): string {
    const path = join(this.base, name);
    mkdirSync(path, { recursive: true });
    if (this.#user !== undefined) chownSync(path, this.#user, this.#user);
    return path;
  }

  /** Writes a file that belongs to the user. */
  put(name: string, text: string | Uint8Array): void {
    const path = join(this.base, name);
    writeFileSync(path, text);
    if (this.#user !== undefined) chownSync(path, this.#user, this.#user);
  }

  /** Runs a program as the user, in a folder of this place, with nothing of this process's environment. */
  async run(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const { node = "current", folder = "workspace", input = "" } = options;
    const as = this.#user;
    const become = ["setpriv", "--reuid", String(as), "--regid", String(as), "--clear-groups", "--"];
    const [program = "", ...args] = [...(as === undefined ? [] : become), ...words];
    const child = spawn(program, args, {
      cwd: join(this.base, folder),
      env: {
        PATH: `${this.nodes[node]}:/usr/bin:/bin:/usr/sbin:/sbin`,
        HOME: join(this.base, "home"),
        ...this.registry,
        ...options.environment,
      },
    });
    const limit = setTimeout(() => child.kill("SIGKILL"), STUCK_MS);
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
    child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
    child.stdin.on("error", () => undefined); // a program that reads nothing may be gone
    child.stdin.end(input);
    const [code] = (await once(child, "close")) as [number | null];
    clearTimeout(limit);
    return { code, stdout, stderr };
  }

  /** Installs with npm and without install scripts. @throws when npm does */
  async install(folder: string, ...what: readonly string[]): Promise<void> {
    const { code, stderr } = await this.run(
      ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", ...what],
      { folder },
    );
    if (code !== 0) throw new Error(`npm install ${what.join(" ")}: ${stderr}`);
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }

  #nodeAt(name: string, binary: string): string {
    const directory = join(this.base, `node-${name}`);
    mkdirSync(directory);
    copyFileSync(binary, join(directory, "node"));
    chmodSync(join(directory, "node"), 0o755);
    return directory;
  }
}

/** How to run a program. */
export interface RunOptions {
  readonly node?: "oldest" | "current";
  /** From the place's base. */
  readonly folder?: string;
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Builds the package into `directory`. @returns the path of its tarball */
export function buildPackage(directory: string): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(ROOT, "scripts/package.mjs"), directory],
    { cwd: ROOT, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`the package cannot be built:\n${stdout}${stderr}`);
  return stdout.split("\n", 1)[0] ?? "";
}

/** The binary of the oldest Node, from npm; it stays in the checkout's tool directory. */
function oldestNode(): string {
  const prefix = join(ROOT, ".toolchain", `node-${OLDEST_NODE}`);
  const name = `node-linux-${process.arch}`;
  const binary = join(prefix, "node_modules", name, "bin/node");
  if (existsSync(binary)) return binary;
  const options = ["--no-save", "--ignore-scripts", "--no-fund", "--no-audit", "--no-package-lock"];
  mkdirSync(prefix, { recursive: true });
  const { status, stderr } = spawnSync("npm", ["install", "--prefix", prefix, ...options, `${name}@${OLDEST_NODE}`], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Node ${OLDEST_NODE} cannot be installed: ${stderr}`);
  return binary;
}
