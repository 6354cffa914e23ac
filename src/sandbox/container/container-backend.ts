/**
 * The backend `container`: runs are made by `runc`, from a configuration that is written for each run. No image is
 * used, and none is fetched.
 *
 * Where the kernel is root, the runtime is too, and nothing that it starts: inside, root is a user that nobody is.
 * Elsewhere the runtime works in a user namespace with the ranges of users that the operator gave the kernel's user. A
 * program beside the container holds it: when the kernel ends, however it does, the container is ended and removed.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { blake3Hex } from "../../base/hash.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { findProgram, missingProgram } from "../host/programs.ts";
import type { Identity } from "../identity/identity.ts";
import { holdOverlay } from "../layers/held-overlay.ts";
import { mountThenRun } from "../layers/overlay.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import type { Backend } from "../run/backend.ts";
import { EXIT_LINE } from "../run/beginning.ts";
import type { Carried, Launch } from "../run/launch.ts";
import { mountProblem } from "../run/mount-check.ts";
import { killFirst, terminate } from "../run/process-tree.ts";
import { INSIDE_DESCRIPTORS, type InsideUsers, ociConfig } from "./oci-config.ts";
import { ociSeccomp } from "./oci-seccomp.ts";
import { OutermostDirectories } from "./outermost-directory.ts";

const RUNTIMES = ["/usr/bin/runc", "/usr/sbin/runc", "/usr/local/bin/runc", "/usr/local/sbin/runc"];
const MAPPERS = ["/usr/bin/newuidmap", "/usr/local/bin/newuidmap"];

/** Who the container's root is where the kernel is root: of the numbers that no account has. */
const CONTAINER_ROOT_IDS = [61_235, 61_236] as const;

const DESCRIPTORS: Record<"gate" | "ready" | "held" | "status", number> = { ...INSIDE_DESCRIPTORS, held: 5, status: 6 };

/**
 * Makes the container, says the number of its first process, and removes it when the kernel lets go of it or is gone.
 * `1` is the runtime, `2` the directory of its state, `3` that of the run, `4` the container's name.
 */
const HOLDER = `runtime() { "$runc" --root "$state" --rootless true "$@"; }
runc=$1 state=$2 directory=$3 name=$4
if ! runtime run --detach --preserve-fds 2 --pid-file "$directory/pid" --bundle "$directory" "$name" </dev/null ${DESCRIPTORS.held}<&- ${DESCRIPTORS.status}>&-; then
  runtime delete --force "$name" >/dev/null 2>&1; exit 1
fi
exec ${DESCRIPTORS.gate}<&- ${DESCRIPTORS.ready}>&- >/dev/null 2>&1
id=$(cat "$directory/pid")
echo "first $id" >&${DESCRIPTORS.status}; exec ${DESCRIPTORS.status}>&-
read -r end <&${DESCRIPTORS.held}
runtime delete --force "$name"; rm -rf "$directory"`;

/** @param programs where the runtime may be, absolute */
export function containerBackend(programs: readonly string[] = RUNTIMES): Backend {
  const place = new ContainerPlace();
  const require = (): string => {
    const program = findProgram(programs);
    if (program === undefined)
      throw missingProgram("commands cannot be contained here, because runc is not installed", "runc");
    if (process.geteuid?.() !== 0 && findProgram(MAPPERS) === undefined) {
      throw missingProgram("containers of an ordinary user need newuidmap, which is not installed", "uidmap");
    }
    return program;
  };
  return {
    name: "container",
    find: () => findProgram(programs),
    require,
    launch: async (plan, identity) => place.launch(plan, identity, require()),
    close: () => place.close(),
  };
}

/** The files of a kernel's containers. */
class ContainerPlace {
  #base: string | undefined;
  #outermost: OutermostDirectories | undefined;
  #count = 0;

  async launch(plan: SandboxPlan, identity: Identity, program: string): Promise<Launch> {
    const base = this.#directory();
    this.#outermost ??= new OutermostDirectories(base);
    this.#count += 1;
    // names a control group as well, among those of all kernels of the machine
    const name = `${basename(base)}-${this.#count}`;
    const directory = join(base, `run-${this.#count}`);
    const seccomp = ociSeccomp(plan.processor);
    const { users, enter, end } = await seenFrom(identity);
    mkdirSync(directory);
    const files = ownFiles(plan, directory);
    const config = JSON.stringify(ociConfig(plan, { seccomp, users, directory: this.#outermost.of(plan), files }));
    writeFileSync(join(directory, "config.json"), config, { mode: 0o600 });
    const [first = "", ...rest] = [
      ...enter,
      "/bin/sh",
      "-c",
      HOLDER,
      "container",
      program,
      join(base, "state"),
      directory,
      name,
    ];
    return {
      command: [first, ...rest],
      runAs: undefined,
      owner: identity.runAs,
      endsWithReady: true,
      descriptors: Object.keys(DESCRIPTORS) as Carried[],
      seccomp: blake3Hex(Buffer.from(JSON.stringify(seccomp))),
      firstProcess: ({ status }) => numberIn(/^first (\d+)$/m.exec(status)),
      exitCode: ({ ready }) => numberIn(EXIT.exec(ready)),
      problem: (first) =>
        mountProblem(plan, readFileSync(`/proc/${first}/mountinfo`, "utf8"), ({ root }, index) =>
          root.endsWith(`/${basename(base)}/${basename(directory)}/${ownFileName(index)}`),
        ),
      terminate,
      kill: killFirst,
      ...(identity.runAs === undefined && { advice: GIVE_USERS }),
      dispose() {
        end?.();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  }

  close(): void {
    if (this.#base !== undefined) rmSync(this.#base, { recursive: true, force: true });
    this.#base = undefined;
    this.#outermost = undefined;
  }

  /** Whoever is root inside passes through it; nobody sees what is in it. */
  #directory(): string {
    if (this.#base === undefined) {
      this.#base = mkdtempSync(join(passableDirectory(), "handrail-container-"));
      chmodSync(this.#base, 0o711);
    }
    return this.#base;
  }
}

/**
 * Writes the plan's own files, which the container's root finds by their names and the command reads; nobody lists or
 * changes them.
 */
function ownFiles({ files = [] }: SandboxPlan, directory: string): readonly string[] {
  if (files.length > 0) chmodSync(directory, 0o711);
  return files.map(({ text }, index) => {
    const path = join(directory, ownFileName(index));
    writeFileSync(path, text, { flag: "wx" });
    chmodSync(path, 0o444);
    return path;
  });
}

function ownFileName(index: number): string {
  return `own-${index}`;
}

/** Where containers are made: the container's root is nobody on the machine, and has to pass through. */
function passableDirectory(): string {
  const own = realpathSync(tmpdir());
  if (process.geteuid?.() !== 0) return own; // whose directories are the container's user's, too
  const found = [own, "/run", "/tmp"].find(isPassable);
  if (found !== undefined) return found;
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `no container can be made below \`${own}\`, which other users cannot pass through; the command did not run`,
    "ask the operator to set TMPDIR to a directory such as `/tmp`",
  );
}

function isPassable(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.mode & 0o001) !== 0 && (path === "/" || isPassable(dirname(path)));
}

const GIVE_USERS =
  "ask the operator for users that the kernel's own may give away, for instance with `usermod --add-subuids 100000-165535 --add-subgids 100000-165535 NAME`, " +
  "or to look at `handrail doctor`";

const EXIT = new RegExp(`^${EXIT_LINE}(\\d+)$`, "m");

/** How the runtime is started, and how it sees the users that are somebody inside. */
async function seenFrom({ prefix, enter, runAs, layers }: Identity): Promise<Seen> {
  if (runAs !== undefined) {
    const rootId = CONTAINER_ROOT_IDS.find((id) => id !== runAs.userId) ?? CONTAINER_ROOT_IDS[0];
    const users = { rootId, ...runAs };
    return layers === undefined ? { users, enter } : { users, ...(await holdOverlay(prefix, layers)) };
  }
  // There the kernel's user is root, and the user's own range begins behind it.
  const users = { rootId: 1, userId: 0, groupId: 0 };
  const namespaces = ["unshare", "--user", "--map-root-user", "--map-auto", "--mount", "--"];
  return { users, enter: [...namespaces, ...(layers === undefined ? [] : mountThenRun(layers))] };
}

/** How the runtime is started, who is who, and what ends when the run has. */
interface Seen {
  readonly users: InsideUsers;
  readonly enter: readonly string[];
  readonly end?: () => void;
}

function numberIn(found: RegExpExecArray | null): number | undefined {
  return found === null ? undefined : Number(found[1]);
}
