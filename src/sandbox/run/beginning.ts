/**
 * Builds the command line that starts a run's command behind a program of the machine.
 *
 * It is pure. The program says when everything stands, waits until the command may begin, and sets the limits that are
 * counted for each process. They are set inside, because from outside that needs a right that a container's root may
 * lack.
 *
 * INVARIANT: without the word that it may begin nothing does.
 */
import { INSIDE_PROXY_PORT, INSIDE_PROXY_SOCKET, type SandboxPlan } from "../plan/plan.ts";

/** Numbers of the descriptors that the beginning speaks and listens by. */
interface Descriptors {
  readonly gate: number;
  readonly ready: number;
}

/** Begins the line that says how the command ended, where that is said from inside. */
export const EXIT_LINE = "exit ";

/**
 * Program and arguments that come to run the command.
 * @param end `exec` puts the command in the program's place; with `child` the program goes to the directory of the run,
 * waits for the command, collects
 * what has lost its parent, and says how the command ended
 */
export function beginning(
  {
    limits,
    askedBytesMax,
    command,
    workDir,
    proxySocket,
  }: Pick<SandboxPlan, "limits" | "askedBytesMax" | "command" | "workDir" | "proxySocket">,
  descriptors: Descriptors,
  end: "exec" | "child",
): readonly [string, ...string[]] {
  const { processesMax, memoryBytesMax, fileBytesMax, openFilesMax } = limits;
  const bounds = [
    processesMax,
    Math.floor((askedBytesMax ?? memoryBytesMax) / 1024),
    Math.floor(fileBytesMax / 512),
    openFilesMax,
  ].map(String);
  const way = proxySocket === undefined ? "" : openWay(descriptors);
  return ["/bin/sh", "-c", begin(descriptors, way, end), "sandbox", ...bounds, workDir, ...command];
}

/**
 * Of the shell's options for processes every shell knows one. The second line says that the command begins.
 * @param way what opens the way to the proxy, under the same limits
 */
function begin({ gate, ready }: Descriptors, way: string, end: "exec" | "child"): string {
  const command = `exec "$@" ${gate}<&- ${ready}>&-`;
  // the shell says of a child that a signal ended it; nobody asked
  const waited = `exec ${OWN_ERRORS}>&2 2>/dev/null; (${command} 2>&${OWN_ERRORS} ${OWN_ERRORS}>&-); echo "${EXIT_LINE}$?" >&${ready}`;
  const goThere = end === "exec" ? "" : 'cd "$5" && export PWD && unset OLDPWD || exit\n';
  return `echo >&${ready}; read -r begin <&${gate} || exit
ulimit -p "$1" 2>/dev/null || ulimit -u "$1" && ulimit -d "$2" && ulimit -f "$3" && ulimit -n "$4" && ulimit -c 0 || exit
${goThere}${way}echo >&${ready}; shift 5; ${end === "exec" ? command : waited}`;
}

/** Of the shells of all machines only one digit is a descriptor. */
const OWN_ERRORS = 9;

/** What carries connections from the port inside to the proxy's socket. */
export const SOCAT = "/usr/bin/socat";

/** Connections that are carried at once, each by a process; more wait until one has ended. */
const CARRIED_MAX = 64;
/**
 * Seconds that a connection may last after one side has ended: as long as a command; the proxy ends those that are
 * silent before.
 */
const HALF_OPEN_SECONDS = 3600;
/** Times that it is looked whether the way is open, 3 ms apart. */
const LOOKS_MAX = 2000;
/** As the table of sockets writes 127.0.0.1, the port, and that it listens. */
const LISTENING = `0100007F:${INSIDE_PROXY_PORT.toString(16).toUpperCase().padStart(4, "0")} 0A`;

/**
 * Waits until the way is open: a command that comes first would find nobody there. It is no child of the command, which
 * may wait for all that it has. The wait starts no program but \`sleep\`, and mostly not that.
 */
const openWay = ({
  gate,
  ready,
}: Descriptors): string => `(${SOCAT} -t ${HALF_OPEN_SECONDS} TCP-LISTEN:${INSIDE_PROXY_PORT},bind=127.0.0.1,fork,reuseaddr,backlog=128,max-children=${CARRIED_MAX} \
UNIX-CONNECT:${INSIDE_PROXY_SOCKET} </dev/null >/dev/null 2>&1 ${gate}<&- ${ready}>&- &)
looks=0; way=
while :; do
while read -r number at peer state rest; do case "$at $state" in "${LISTENING}") way=open;; esac; done </proc/net/tcp
[ "$way" ] && break; looks=$((looks + 1))
if [ "$looks" -gt ${LOOKS_MAX} ]; then echo "the way to the network did not open" >&2; exit 1; fi
sleep 0.003
done
`;
