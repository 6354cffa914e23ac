/**
 * The plan of a sandboxed run: what is seen, what is enforced, what is started. Pure data out of data, so that every
 * backend enforces the same and a test can look at it.
 *
 * INVARIANTS: nothing of the machine is visible that the plan does not name; later mounts lie over earlier ones, so
 * that what hides comes after what shows; the environment is only what the plan names.
 */
import { assert } from "../../base/errors.ts";
import { WORKSPACE_ALIAS } from "../../model/place/workspace.ts";
import { type SeccompProgram, seccompProgram } from "./seccomp.ts";
import type { Processor } from "./syscall-numbers.ts";

/** Where the workspace lies inside: where agents name it. */
export const INSIDE_WORKSPACE = WORKSPACE_ALIAS;
/**
 * Where the workspace itself lies, covered, in a run that sees a selection in its place: what is mounted of it is
 * compared with that.
 */
export const INSIDE_COVERED = "/run/workspace";
/** Where the egress proxy's socket lies inside, if there is one. */
export const INSIDE_PROXY_SOCKET = "/run/egress.sock";
/** The port inside at which programs find the egress proxy. */
export const INSIDE_PROXY_PORT = 3128;

/** Where `path`, relative to the workspace and `.` for itself, lies inside. */
export function insideWorkspace(path: string): string {
  return path === "." ? INSIDE_WORKSPACE : `${INSIDE_WORKSPACE}/${path}`;
}

/** Namespaces that are new in every run, as evidence names them. */
export const NEW_NAMESPACES = ["user", "mount", "pid", "network", "ipc", "uts", "cgroup"] as const;

/** One mount. Sources are absolute paths of the machine, targets absolute paths inside. */
export type SandboxMount =
  | {
      readonly kind: "writable" | "read_only";
      readonly source: string;
      readonly target: string;
      /** The path in the workspace of what lies there under another name than its own. */
      readonly part?: string;
    }
  /** An empty directory in which more is mounted. It can be written, and nothing in it lasts. */
  | { readonly kind: "empty_directory"; readonly target: string }
  /** An empty directory in place of what lies there, or an empty file; neither can be written. */
  | { readonly kind: "hide_directory" | "hide_file"; readonly target: string }
  /** A link, as Debian has them from `/bin` into `/usr`. */
  | { readonly kind: "link"; readonly points: string; readonly target: string };

/**
 * Bytes that an `empty_directory` takes: places of mounts need none, and what is written there is gone with the run.
 */
export const EMPTY_DIRECTORY_BYTES_MAX = 65_536;

/** What a run may use at most. */
export interface SandboxLimits {
  /** Milliseconds until the processes are asked to end. */
  readonly timeoutMs: number;
  /** Bytes of output of both kinds together, after which everything is killed. */
  readonly outputBytesMax: number;
  readonly processesMax: number;
  /** Bytes of memory of all processes together: in a control group, or watched. */
  readonly memoryBytesMax: number;
  /** Processors' worth of time, in control groups. */
  readonly processors: number;
  readonly fileBytesMax: number;
  readonly openFilesMax: number;
  /** Bytes of the private `/tmp`. */
  readonly temporaryBytesMax: number;
}

/** What a run is wanted for. */
export interface SandboxRequest {
  /** Program and arguments; the program is looked up inside. */
  readonly command: readonly [string, ...string[]];
  /** Absolute, inside. */
  readonly workDir: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The toolchain: what is read only for every run. */
  readonly system: readonly SandboxMount[];
  /** The workspace by its scope: what may be written, read, and must not be seen. */
  readonly workspace: readonly SandboxMount[];
  /** Where the directories lie inside that are seen beside the workspace; their mounts are among those of it. */
  readonly beside?: readonly string[];
  readonly limits: SandboxLimits;
  /** Bytes that each process may ask for, used or not; as many as may be used where nothing is said. */
  readonly askedBytesMax?: number;
  /** A socket of the egress proxy on the machine; without it nothing is reachable. */
  readonly proxySocket?: string;
  /** Files that a run sees in place of what lies in the workspace. */
  readonly files?: readonly SandboxFile[];
}

/** A file with a text of the kernel's own, read only inside; it lies over all mounts. */
export interface SandboxFile {
  /** Absolute, inside; within the workspace something lies there. */
  readonly target: string;
  readonly text: string;
}

/** What every backend enforces. */
export interface SandboxPlan extends SandboxRequest {
  readonly mounts: readonly SandboxMount[];
  readonly processor: Processor;
  readonly seccomp: SeccompProgram;
}

/** The name of the user inside; the number means nothing to the machine. */
export const INSIDE_USER = { name: "agent", id: 1000 } as const;

/** The plan for `request` on `processor`. */
export function planSandbox(request: SandboxRequest, processor: Processor): SandboxPlan {
  const mounts = [...request.system, ...request.workspace];
  for (const { target } of [...mounts, ...(request.files ?? [])]) {
    assert(
      target.startsWith("/") && !target.split("/").includes("..") && !target.includes("\0"),
      "a mount's target is absolute and plain",
    );
  }
  assert(request.workDir.startsWith("/"), "the directory of a run is absolute");
  // They would load what they name into the program that sets the limits, before it has.
  assert(
    !Object.keys(request.environment).some((name) => name.startsWith("LD_")),
    "nothing in an environment is for the loader of programs",
  );
  return { ...request, mounts, processor, environment: environmentOf(request), seccomp: seccompProgram(processor) };
}

/** Where programs look for a proxy; some know only their own name. */
const PROXY_NAMES = [
  ...["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"],
  ...["npm_config_proxy", "npm_config_https_proxy", "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"],
];
/** What a command serves to itself does not go out. */
const INSIDE_HOSTS = "localhost,127.0.0.1,::1";

function environmentOf({ environment, proxySocket }: SandboxRequest): Readonly<Record<string, string>> {
  const base = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: "/tmp",
    LANG: "C.UTF-8",
    TMPDIR: "/tmp",
    USER: INSIDE_USER.name,
    ...environment,
  };
  if (proxySocket === undefined) return base;
  const proxy = `http://127.0.0.1:${INSIDE_PROXY_PORT}`;
  return {
    ...base,
    ...Object.fromEntries(PROXY_NAMES.map((name) => [name, proxy])),
    ...Object.fromEntries(["no_proxy", "NO_PROXY", "npm_config_noproxy"].map((name) => [name, INSIDE_HOSTS])),
    NODE_USE_ENV_PROXY: "1",
    // npm would ask for news of itself, each time in vain
    npm_config_update_notifier: "false",
  };
}
