/**
 * A plan as arguments of `bwrap`. Pure.
 *
 * INVARIANT: namespaces of every kind are new, nested ones cannot be made, no capability is left, and the outermost directory is read only.
 */
import { INSIDE_PROXY_PORT, INSIDE_PROXY_SOCKET, INSIDE_USER, type SandboxMount, type SandboxPlan } from "../plan/plan.ts";

/** Descriptors that a run of bwrap inherits, by what they carry. */
export const DESCRIPTORS = { seccomp: 3, status: 4, gate: 5, ready: 6, passwd: 7, group: 8 } as const;

/** Namespaces that are new in every run, as evidence names them. */
export const NEW_NAMESPACES = ["user", "mount", "pid", "network", "ipc", "uts", "cgroup"] as const;

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

/** Arguments after the program's name. */
export function bwrapArguments(plan: SandboxPlan): readonly string[] {
  const id = String(INSIDE_USER.id);
  const { temporaryBytesMax } = plan.limits;
  return [
    ...ISOLATION,
    ...["--uid", id, "--gid", id, "--hostname", "sandbox"],
    ...["--proc", "/proc", "--dev", "/dev"],
    // without bounds of its own, what is written there takes half of the machine's memory
    ...["--size", String(temporaryBytesMax), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--size", String(temporaryBytesMax), "--tmpfs", "/tmp"],
    ...["--ro-bind-data", String(DESCRIPTORS.passwd), "/etc/passwd", "--ro-bind-data", String(DESCRIPTORS.group), "/etc/group"],
    ...plan.mounts.flatMap(mountArguments),
    ...(plan.proxySocket === undefined ? [] : ["--ro-bind", plan.proxySocket, INSIDE_PROXY_SOCKET]),
    ...["--remount-ro", "/", "--chdir", plan.workDir, "--clearenv"],
    ...Object.entries(plan.environment).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--seccomp", String(DESCRIPTORS.seccomp), "--json-status-fd", String(DESCRIPTORS.status)],
    "--",
    ...started(plan),
  ];
}

/** What `/etc/passwd` and `/etc/group` say inside. */
export function accountFiles(): { readonly passwd: string; readonly group: string } {
  const { name, id } = INSIDE_USER;
  return {
    passwd: `${name}:x:${id}:${id}::/tmp:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n`,
    group: `${name}:x:${id}:\nnogroup:x:65534:\n`,
  };
}

function mountArguments(mount: SandboxMount): readonly string[] {
  switch (mount.kind) {
    case "writable":
      return ["--bind", mount.source, mount.target];
    case "read_only":
      return ["--ro-bind", mount.source, mount.target];
    case "hide_directory":
      return ["--perms", "0555", "--size", "4096", "--tmpfs", mount.target, "--remount-ro", mount.target];
    case "hide_file":
      // a device, which cannot be opened inside: nothing is read, and nothing written
      return ["--ro-bind", "/dev/null", mount.target];
    case "link":
      return ["--symlink", mount.points, mount.target];
  }
}

/**
 * The command, behind a program of the machine that says when everything stands, waits until it may begin, and sets the limits that are
 * counted for each process. They are set inside: from outside that needs a right that a container's root may lack.
 */
function started({ limits, command, proxySocket }: SandboxPlan): readonly string[] {
  const { processesMax, memoryBytesMax, fileBytesMax, openFilesMax } = limits;
  const bounds = [processesMax, Math.floor(memoryBytesMax / 1024), Math.floor(fileBytesMax / 512), openFilesMax].map(String);
  return ["sh", "-c", BEGIN, "sandbox", ...bounds, ...(proxySocket === undefined ? [] : PROXIED), ...command];
}

/** Of the shell's options for processes every shell knows one. The second line says that the command begins. */
const BEGIN = `echo >&${DESCRIPTORS.ready}; read -r begin <&${DESCRIPTORS.gate}
ulimit -p "$1" 2>/dev/null || ulimit -u "$1" && ulimit -d "$2" && ulimit -f "$3" && ulimit -n "$4" && ulimit -c 0 || exit
echo >&${DESCRIPTORS.ready}; shift 4; exec "$@" ${DESCRIPTORS.gate}<&- ${DESCRIPTORS.ready}>&-`;

/** Waits until the way to the proxy is open: a command that comes first would find nobody there. */
const PROXIED = [
  "sh",
  "-c",
  `socat TCP-LISTEN:${INSIDE_PROXY_PORT},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:${INSIDE_PROXY_SOCKET} </dev/null >/dev/null 2>&1 &
tries=0
until [ "$(cut -c1-12,35-36 /proc/net/tcp 2>/dev/null | grep -c ':.*0C38')" != 0 ] || [ "$tries" -ge 500 ]; do tries=$((tries + 1)); sleep 0.005; done
exec "$@"`,
  "egress",
];
