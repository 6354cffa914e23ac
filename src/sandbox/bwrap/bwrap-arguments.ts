/**
 * A plan as arguments of `bwrap`. Pure.
 *
 * What names the machine's places and the environment goes in by a descriptor: the command could read the line that
 * started its first process. INVARIANT: namespaces of every kind are new, nested ones cannot be made, no capability is
 * left, and the outermost directory is read only.
 */
import { ToolFailure } from "../../model/outcome/failure.ts";
import {
  EMPTY_DIRECTORY_BYTES_MAX,
  INSIDE_PROXY_SOCKET,
  INSIDE_USER,
  type SandboxMount,
  type SandboxPlan,
} from "../plan/plan.ts";
import { tooManyMounts } from "../plan/workspace-mounts.ts";
import { beginning } from "../run/beginning.ts";

/** Descriptors that a run of bwrap inherits, by what they carry. */
export const DESCRIPTORS = {
  seccomp: 3,
  status: 4,
  gate: 5,
  ready: 6,
  passwd: 7,
  group: 8,
  hosts: 9,
  options: 10,
} as const;
/** The first descriptor of the plan's own files, which follow in their order. */
const FIRST_FILE = 11;

const ISOLATION = [
  "--unshare-all",
  // `--unshare-all` only tries the user namespace; without it the next option is refused.
  "--unshare-user",
  "--disable-userns",
  "--die-with-parent",
  "--new-session",
  "--cap-drop",
  "ALL",
];

/** More are refused by bwrap, which counts those on its line and those by descriptor together. */
const ARGUMENTS_MAX = 9000;
/** Of these what a workspace's mounts may take; the rest is for the system, the environment and the command. */
export const WORKSPACE_ARGUMENTS_MAX = 8400;

/** How bwrap is told of a plan. */
export interface BwrapArguments {
  /** After the program's name: where the options are, and the command. */
  readonly line: readonly string[];
  /** What is read from the descriptor for options. */
  readonly options: Uint8Array;
}

/** How many arguments the mounts of a workspace take. */
export function workspaceArguments(mounts: readonly SandboxMount[]): number {
  return mounts.reduce((sum, mount) => sum + mountArguments(mount).length, 0);
}

/** What the machine says of the keys that its user keeps in the machine's kernel: their names. */
export const KEY_NAMES: readonly string[] = ["/proc/keys", "/proc/key-users"];

/**
 * Arguments for `plan`.
 * @param hidden files of `/proc` that are there and that no command is to read
 * @throws ToolFailure SANDBOX_UNAVAILABLE when they are too many
 */
export function bwrapArguments(plan: SandboxPlan, hidden: readonly string[] = []): BwrapArguments {
  if (workspaceArguments(plan.workspace) > WORKSPACE_ARGUMENTS_MAX) throw tooManyMounts();
  const options = optionsOf(plan, hidden);
  const line = ["--args", String(DESCRIPTORS.options), "--", ...beginning(plan, DESCRIPTORS, "exec")];
  if (options.length + line.length < ARGUMENTS_MAX)
    return { line, options: Buffer.from(options.map((each) => `${each}\0`).join("")) };
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    "the command and its environment have more words than bwrap takes; the command did not run",
    "use fewer arguments or variables, or a script",
  );
}

/** The options, in the order in which bwrap goes about them. */
function optionsOf(plan: SandboxPlan, hidden: readonly string[]): readonly string[] {
  const id = String(INSIDE_USER.id);
  const { temporaryBytesMax } = plan.limits;
  return [
    ...ISOLATION,
    ...["--uid", id, "--gid", id, "--hostname", "sandbox"],
    ...["--proc", "/proc", "--dev", "/dev"],
    ...hidden.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    // without bounds of its own, what is written there takes half of the machine's memory
    ...["--size", String(temporaryBytesMax), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--size", String(temporaryBytesMax), "--tmpfs", "/tmp"],
    ...(["passwd", "group", "hosts"] as const).flatMap((name) => [
      "--ro-bind-data",
      String(DESCRIPTORS[name]),
      `/etc/${name}`,
    ]),
    ...plan.mounts.flatMap(mountArguments),
    ...(plan.files ?? []).flatMap(({ target }, index) => ["--ro-bind-data", String(FIRST_FILE + index), target]),
    ...(plan.proxySocket === undefined ? [] : ["--ro-bind", plan.proxySocket, INSIDE_PROXY_SOCKET]),
    ...["--remount-ro", "/", "--chdir", plan.workDir, "--clearenv"],
    ...Object.entries(plan.environment).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--seccomp", String(DESCRIPTORS.seccomp), "--json-status-fd", String(DESCRIPTORS.status)],
  ];
}

function mountArguments(mount: SandboxMount): readonly string[] {
  switch (mount.kind) {
    case "writable":
      return ["--bind", mount.source, mount.target];
    case "read_only":
      return ["--ro-bind", mount.source, mount.target];
    case "empty_directory":
      return ["--perms", "0777", "--size", String(EMPTY_DIRECTORY_BYTES_MAX), "--tmpfs", mount.target];
    case "hide_directory":
      return ["--perms", "0555", "--size", "4096", "--tmpfs", mount.target, "--remount-ro", mount.target];
    case "hide_file":
      // a device, which cannot be opened inside: nothing is read, and nothing written
      return ["--ro-bind", "/dev/null", mount.target];
    case "link":
      return ["--symlink", mount.points, mount.target];
  }
}
