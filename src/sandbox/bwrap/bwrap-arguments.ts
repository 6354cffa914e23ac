/**
 * A plan as arguments of `bwrap`. Pure.
 *
 * What names the machine's places and the environment goes in by a descriptor: the command could read the line that started its first process.
 * INVARIANT: namespaces of every kind are new, nested ones cannot be made, no capability is left, and the outermost directory is read only.
 */
import { ToolFailure } from "../../model/failure.ts";
import { INSIDE_PROXY_PORT, INSIDE_PROXY_SOCKET, INSIDE_USER, type SandboxMount, type SandboxPlan } from "../plan/plan.ts";

/** Descriptors that a run of bwrap inherits, by what they carry. */
export const DESCRIPTORS = { seccomp: 3, status: 4, gate: 5, ready: 6, passwd: 7, group: 8, hosts: 9, options: 10 } as const;

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

/** More are refused by bwrap, which counts those on its line and those by descriptor together. */
const ARGUMENTS_MAX = 9000;

/** How bwrap is told of a plan. */
export interface BwrapArguments {
  /** After the program's name: where the options are, and the command. */
  readonly line: readonly string[];
  /** What is read from the descriptor for options. */
  readonly options: Uint8Array;
}

/**
 * Arguments for `plan`.
 * @throws ToolFailure SANDBOX_UNAVAILABLE when they are too many
 */
export function bwrapArguments(plan: SandboxPlan): BwrapArguments {
  const options = optionsOf(plan);
  const line = ["--args", String(DESCRIPTORS.options), "--", ...started(plan)];
  if (options.length + line.length < ARGUMENTS_MAX) return { line, options: Buffer.from(options.map((each) => `${each}\0`).join("")) };
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    "the scope needs more mounts than a command can be given; the command did not run",
    "ask the operator for a simpler scope or a smaller workspace",
  );
}

/** The options, in the order in which bwrap goes about them. */
function optionsOf(plan: SandboxPlan): readonly string[] {
  const id = String(INSIDE_USER.id);
  const { temporaryBytesMax } = plan.limits;
  return [
    ...ISOLATION,
    ...["--uid", id, "--gid", id, "--hostname", "sandbox"],
    ...["--proc", "/proc", "--dev", "/dev"],
    // without bounds of its own, what is written there takes half of the machine's memory
    ...["--size", String(temporaryBytesMax), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--size", String(temporaryBytesMax), "--tmpfs", "/tmp"],
    ...(["passwd", "group", "hosts"] as const).flatMap((name) => ["--ro-bind-data", String(DESCRIPTORS[name]), `/etc/${name}`]),
    ...plan.mounts.flatMap(mountArguments),
    ...(plan.proxySocket === undefined ? [] : ["--ro-bind", plan.proxySocket, INSIDE_PROXY_SOCKET]),
    ...["--remount-ro", "/", "--chdir", plan.workDir, "--clearenv"],
    ...Object.entries(plan.environment).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--seccomp", String(DESCRIPTORS.seccomp), "--json-status-fd", String(DESCRIPTORS.status)],
  ];
}

/** What `/etc/passwd`, `/etc/group` and `/etc/hosts` say inside. */
export function settingFiles(): { readonly passwd: string; readonly group: string; readonly hosts: string } {
  const { name, id } = INSIDE_USER;
  return {
    passwd: `${name}:x:${id}:${id}::/tmp:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n`,
    group: `${name}:x:${id}:\nnogroup:x:65534:\n`,
    hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
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
function started({ limits, askedBytesMax, command, proxySocket }: SandboxPlan): readonly string[] {
  const { processesMax, memoryBytesMax, fileBytesMax, openFilesMax } = limits;
  const bounds = [processesMax, Math.floor((askedBytesMax ?? memoryBytesMax) / 1024), Math.floor(fileBytesMax / 512), openFilesMax].map(
    String,
  );
  return ["/bin/sh", "-c", proxySocket === undefined ? begin("") : begin(OPEN_WAY), "sandbox", ...bounds, ...command];
}

/**
 * Of the shell's options for processes every shell knows one. The second line says that the command begins.
 * @param way what opens the way to the proxy, under the same limits
 */
function begin(way: string): string {
  return `echo >&${DESCRIPTORS.ready}; read -r begin <&${DESCRIPTORS.gate}
ulimit -p "$1" 2>/dev/null || ulimit -u "$1" && ulimit -d "$2" && ulimit -f "$3" && ulimit -n "$4" && ulimit -c 0 || exit
${way}echo >&${DESCRIPTORS.ready}; shift 4; exec "$@" ${DESCRIPTORS.gate}<&- ${DESCRIPTORS.ready}>&-`;
}

/** What carries connections from the port inside to the proxy's socket. */
export const SOCAT = "/usr/bin/socat";

/** Connections that are carried at once, each by a process; more wait until one has ended. */
const CARRIED_MAX = 64;
/** Seconds that a connection may last after one side has ended: as long as a command; the proxy ends those that are silent before. */
const HALF_OPEN_SECONDS = 3600;
/** Times that it is looked whether the way is open, 3 ms apart. */
const LOOKS_MAX = 2000;
/** As the table of sockets writes 127.0.0.1, the port, and that it listens. */
const LISTENING = `0100007F:${INSIDE_PROXY_PORT.toString(16).toUpperCase().padStart(4, "0")} 0A`;

/**
 * Waits until the way is open: a command that comes first would find nobody there. It is no child of the command, which may wait for all that it has. The wait
 * starts no program but \`sleep\`, and mostly not that.
 */
const OPEN_WAY = `(${SOCAT} -t ${HALF_OPEN_SECONDS} TCP-LISTEN:${INSIDE_PROXY_PORT},bind=127.0.0.1,fork,reuseaddr,backlog=128,max-children=${CARRIED_MAX} \
UNIX-CONNECT:${INSIDE_PROXY_SOCKET} </dev/null >/dev/null 2>&1 ${DESCRIPTORS.gate}<&- ${DESCRIPTORS.ready}>&- &)
looks=0; way=
while :; do
while read -r number at peer state rest; do case "$at $state" in "${LISTENING}") way=open;; esac; done </proc/net/tcp
[ "$way" ] && break; looks=$((looks + 1))
if [ "$looks" -gt ${LOOKS_MAX} ]; then echo "the way to the network did not open" >&2; exit 1; fi
sleep 0.003
done
`;
