/**
 * A plan as the configuration of an OCI container. Pure.
 *
 * INVARIANTS: namespaces of every kind are new; the container's root is nobody on the machine, and neither it nor the
 * command keeps a capability; the outermost directory is read only; nothing is mounted that the plan does not name.
 */
import { assert } from "../../base/errors.ts";
import {
  EMPTY_DIRECTORY_BYTES_MAX,
  INSIDE_PROXY_SOCKET,
  INSIDE_USER,
  type SandboxMount,
  type SandboxPlan,
} from "../plan/plan.ts";
import { beginning } from "../run/beginning.ts";
import type { OciSeccomp } from "./oci-seccomp.ts";

/** Descriptors that a container inherits. */
export const INSIDE_DESCRIPTORS = { gate: 3, ready: 4 } as const;

/** Users as the runtime sees them that are somebody inside. */
export interface InsideUsers {
  /** Who the container's root is outside: it makes the mounts, and nothing of the plan runs as it. */
  readonly rootId: number;
  /** Who the command's user is outside, and its group. */
  readonly userId: number;
  readonly groupId: number;
}

/** A mount of the configuration. */
export interface OciMount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

const NAMESPACES = ["user", "mount", "pid", "network", "ipc", "uts", "cgroup"];
/** Of the machine's kernel, as container runtimes hide it. */
const HIDDEN =
  "acpi asound interrupts kcore key-users keys latency_stats sched_debug scsi timer_list timer_stats".split(" ");
const READ_ONLY = ["bus", "fs", "irq", "sys", "sysrq-trigger"];
const BOUND = ["nosuid", "nodev", "rnosuid", "rnodev"];

/** What a container is made of besides its plan. */
export interface ContainerParts {
  readonly seccomp: OciSeccomp;
  readonly users: InsideUsers;
  /** The empty directory that becomes the outermost one, absolute. */
  readonly directory: string;
  /** Where the plan's own files lie on the machine, in their order. */
  readonly files: readonly string[];
}

/** The configuration. */
export function ociConfig(plan: SandboxPlan, { seccomp, users, directory, files }: ContainerParts) {
  const { id } = INSIDE_USER;
  const mapped = (rootId: number, own: number) => [
    { containerID: 0, hostID: rootId, size: 1 },
    { containerID: id, hostID: own, size: 1 },
  ];
  return {
    ociVersion: "1.0.2",
    process: {
      terminal: false,
      user: { uid: id, gid: id, additionalGids: [] },
      args: beginning(plan, INSIDE_DESCRIPTORS, "child"),
      env: Object.entries(plan.environment).map(([variable, value]) => `${variable}=${value}`),
      // the command goes to its own by itself: a runtime could be led out by a directory that it goes to while it still
      // holds something of the machine
      cwd: "/",
      capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
      noNewPrivileges: true,
    },
    root: { path: directory, readonly: true },
    hostname: "sandbox",
    mounts: [...ownMounts(plan), ...plan.mounts.flatMap(mountOf), ...ownFiles(plan, files), ...proxyMount(plan)],
    linux: {
      namespaces: NAMESPACES.map((type) => ({ type })),
      uidMappings: mapped(users.rootId, users.userId),
      gidMappings: mapped(users.rootId, users.groupId),
      seccomp,
      maskedPaths: [...HIDDEN.map((entry) => `/proc/${entry}`), "/sys/firmware"],
      readonlyPaths: READ_ONLY.map((entry) => `/proc/${entry}`),
    },
  };
}

/** What every container has: its own processes, devices and places for what is not kept. */
function ownMounts({ limits }: SandboxPlan): readonly OciMount[] {
  const temporary = ["nosuid", "nodev", "mode=1777", `size=${limits.temporaryBytesMax}`];
  const devices = ["nosuid", "noexec", "strictatime", "mode=755", "size=65536", "ro"];
  return [
    { destination: "/proc", type: "proc", source: "proc", options: ["nosuid", "noexec", "nodev"] },
    { destination: "/dev", type: "tmpfs", source: "tmpfs", options: devices },
    {
      destination: "/dev/pts",
      type: "devpts",
      source: "devpts",
      options: ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=620"],
    },
    { destination: "/dev/shm", type: "tmpfs", source: "tmpfs", options: temporary },
    { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: temporary },
  ];
}

/** Links are no mounts: they stand in the directory that becomes the outermost one. */
function mountOf(mount: SandboxMount): readonly OciMount[] {
  const bound = (source: string, options: readonly string[]): OciMount => ({
    destination: mount.target,
    type: "bind",
    source,
    options: ["rbind", ...options, ...BOUND],
  });
  switch (mount.kind) {
    case "writable":
      return [bound(mount.source, ["rw"])];
    case "read_only":
      return [bound(mount.source, ["ro", "rro"])];
    case "empty_directory":
      return [emptyDirectory(mount.target)];
    case "hide_directory":
      return [
        {
          destination: mount.target,
          type: "tmpfs",
          source: "tmpfs",
          options: ["ro", "nosuid", "nodev", "mode=555", "size=4096"],
        },
      ];
    case "hide_file":
      return [bound("/dev/null", ["ro"])];
    case "link":
      return [];
  }
}

/**
 * Everybody may write there, because it belongs to the container's root: tools try to remove what they are about to
 * fill.
 */
function emptyDirectory(target: string): OciMount {
  const options = ["nosuid", "nodev", "mode=777", `size=${EMPTY_DIRECTORY_BYTES_MAX}`];
  return { destination: target, type: "tmpfs", source: "tmpfs", options };
}

/** They lie over everything else of the workspace. */
function ownFiles({ files = [] }: SandboxPlan, sources: readonly string[]): readonly OciMount[] {
  assert(files.length === sources.length, "every file of the plan lies somewhere");
  return files.map(({ target }, index) => ({
    destination: target,
    type: "bind",
    source: sources[index] ?? "",
    options: ["bind", "ro", ...BOUND],
  }));
}

function proxyMount({ proxySocket }: SandboxPlan): readonly OciMount[] {
  if (proxySocket === undefined) return [];
  return [{ destination: INSIDE_PROXY_SOCKET, type: "bind", source: proxySocket, options: ["bind", "ro", ...BOUND] }];
}
