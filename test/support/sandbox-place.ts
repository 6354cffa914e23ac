/**
 * A workspace and a sandbox for it, for tests of what a command can do. A control runs the same command in the same
 * plan with one defence taken away, and never as root.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecSelection } from "../../src/model/work/exec.ts";
import { DESCRIPTORS } from "../../src/sandbox/bwrap/bwrap-arguments.ts";
import { bwrapLaunch } from "../../src/sandbox/bwrap/bwrap-backend.ts";
import { systemView } from "../../src/sandbox/host/system-view.ts";
import { workspaceTree } from "../../src/sandbox/host/workspace-tree.ts";
import { SANDBOX_USER_ID } from "../../src/sandbox/identity/identity.ts";
import { planSandbox, type SandboxPlan } from "../../src/sandbox/plan/plan.ts";
import type { Processor } from "../../src/sandbox/plan/syscall-numbers.ts";
import { atOnce, type ScopeJudge, WorkspaceLook } from "../../src/sandbox/plan/workspace-mounts.ts";
import { superviseRun } from "../../src/sandbox/run/supervised-run.ts";
import {
  type BackendName,
  type EgressGrant,
  Sandbox,
  type SandboxEnd,
  type SandboxLanding,
  type SandboxLimits,
  type SandboxOptions,
} from "../../src/sandbox/sandbox.ts";
import type { ViewChoice } from "../../src/sandbox/views/view-kinds.ts";
import { unnotedNames } from "./files-fixture.ts";

/** Limits that a test's command stays well below unless it is about them. */
export const LIMITS: SandboxLimits = {
  timeoutMs: 100_000,
  outputBytesMax: 16 * 2 ** 20,
  processesMax: 100,
  memoryBytesMax: 512 * 2 ** 20,
  processors: 1,
  fileBytesMax: 64 * 2 ** 20,
  openFilesMax: 1024,
  temporaryBytesMax: 64 * 2 ** 20,
};

/** A judge that lets everything be read and written. */
export const EVERYTHING: ScopeJudge = { entry: () => "write", below: () => "write", isWhole: () => false };

/**
 * Tests that hold for every backend are run once more by files that call this first; programs that tests start take it
 * over.
 */
export function useBackend(backend: BackendName): void {
  process.env["HANDRAIL_TEST_BACKEND"] = backend;
}

/** What contains the commands of the running tests. */
export function testedBackend(): BackendName {
  const named = process.env["HANDRAIL_TEST_BACKEND"] ?? "bwrap";
  if (named === "bwrap" || named === "container" || named === "none") return named;
  throw new Error(`no test is for the backend \`${named}\``);
}

/** The same for tests that hold for every kind of view. */
export function useViews(kind: ViewChoice): void {
  process.env["HANDRAIL_TEST_VIEWS"] = kind;
}

/** What the commands of the running tests write into. */
export function testedViews(): ViewChoice {
  const named = process.env["HANDRAIL_TEST_VIEWS"] ?? "overlay";
  if (named === "auto" || named === "overlay" || named === "copy") return named;
  throw new Error(`no test is for views of the kind \`${named}\``);
}

/** What is different from a plain run. */
export interface Differences {
  readonly judge?: ScopeJudge;
  readonly limits?: Partial<SandboxLimits>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly root?: string;
  /** Called with what the command prints, while it runs. */
  readonly onOutput?: (piece: Uint8Array) => void;
  readonly egress?: EgressGrant;
  readonly selection?: ExecSelection;
  readonly landing?: Partial<SandboxLanding>;
}

/** The defence that a control does without. */
export interface Without {
  /** Rows of arguments of bwrap that are left out, each where it first stands. */
  readonly options?: readonly (readonly string[])[];
  /** Arguments that are put before all others. */
  readonly added?: readonly string[];
  readonly filter?: true;
  /** Options stand on bwrap's line. */
  readonly onLine?: true;
  /** Put before bwrap. */
  readonly prefix?: readonly string[];
  readonly plan?: (plan: SandboxPlan) => SandboxPlan;
}

/** What came of a command. */
export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly end: Pick<SandboxEnd, "exitCode" | "endedBy"> & Partial<SandboxEnd>;
}

/** A workspace of its own, owned by the sandbox's user, with a sandbox. */
export interface SandboxPlace {
  /** Directory of the test. */
  readonly base: string;
  readonly root: string;
  readonly outside: string;
  readonly sandbox: Sandbox;
  readonly run: (command: Command, differences?: Differences) => Promise<Ran>;
  readonly runWithout: (without: Without, command: Command, differences?: Differences) => Promise<Ran>;
  readonly close: () => void;
}

/** Program and arguments, or a text for `bash -c`. */
export type Command = string | readonly [string, ...string[]];

let places = 0;

/** The user that commands of a test belong to on the machine. */
export function sandboxUser(): number {
  const own = process.geteuid?.() ?? 0;
  return own === 0 ? SANDBOX_USER_ID : own;
}

/** A new place, with a sandbox made with `options` where they differ. */
export function newSandboxPlace(options: Partial<SandboxOptions> = {}): SandboxPlace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "handrail-sandbox-")));
  const root = join(base, "workspace");
  const outside = join(base, "outside");
  chmodSync(base, 0o755);
  for (const directory of [root, outside]) mkdirSync(directory);
  own(root);
  places += 1;
  const sandbox = new Sandbox({
    instanceId: `test-${process.pid}-${places}`,
    userId: SANDBOX_USER_ID,
    toolchains: [],
    backend: testedBackend(),
    viewsDirectory: join(base, "views"),
    views: testedViews(),
    ...options,
  });
  return {
    base,
    root,
    outside,
    sandbox,
    run: (command, differences = {}) =>
      collected((output) => {
        const { signal = new AbortController().signal, onOutput } = differences;
        const stdout = (piece: Uint8Array) => {
          output.stdout(piece);
          onOutput?.(piece);
        };
        return sandbox.run(wanted(root, command, differences), { ...output, stdout }, signal);
      }),
    runWithout: (without, command, differences = {}) => {
      const request = wanted(root, command, differences);
      const changed = without.plan ?? ((plan: SandboxPlan) => plan);
      const plan = changed(withoutFilter(planOf(request), without.filter === true));
      const signal = differences.signal ?? new AbortController().signal;
      const launch = bwrapLaunch(plan, launchWithout(without));
      return collected((output) =>
        superviseRun(launch, { limits: plan.limits, output, signal, confine: async () => undefined }),
      );
    },
    close() {
      sandbox.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** Gives `path` to the sandbox's user, where the test may. */
export function own(path: string): void {
  if (process.geteuid?.() === 0) chownSync(path, SANDBOX_USER_ID, SANDBOX_USER_ID);
}

/** Where a control starts bwrap: never as root, and with its arguments changed by a program that takes its place. */
function launchWithout({ options = [], added = [], prefix = [], onLine }: Without) {
  const user = String(SANDBOX_USER_ID);
  const asUser = process.geteuid?.() === 0 ? ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"] : [];
  const changes = [
    "perl",
    "-e",
    CHANGE_ARGUMENTS,
    "--",
    onLine ? "1" : "",
    options.map((row) => row.join("\n")).join("\n\n"),
    added.join("\n"),
  ];
  const runAs = asUser.length > 0 ? { userId: SANDBOX_USER_ID, groupId: SANDBOX_USER_ID } : undefined;
  return { program: "/usr/bin/bwrap", prefix: [...asUser, ...prefix, ...changes], runAs };
}

const CHANGE_ARGUMENTS = `use POSIX (); $^F = 99; my ($shown, $gone, $new, $program, @line) = @ARGV; my @rows = map { [split /\\n/] } split /\\n\\n/, $gone;
open(my $given, "<&=", ${DESCRIPTORS.options}) or die; my @all = do { local $/ = "\\0"; map { chomp; $_ } <$given> };
for my $row (@rows) { my $found;
  for my $at (0 .. $#all) { if (join("\\n", @all[$at .. $at + $#$row]) eq join("\\n", @$row)) { splice @all, $at, scalar @$row; $found = 1; last } }
  die "no such arguments: @$row\\n" unless $found }
exec $program, split(/\\n/, $new), @all, splice(@line, 2) if $shown;
open(my $told, "+>", undef) or die; print $told map { "$_\\0" } split(/\\n/, $new), @all; $told->flush; sysseek($told, 0, 0); POSIX::dup2(fileno $told, ${DESCRIPTORS.options});
exec $program, @line`;

/** Allows everything: one instruction. */
const ALLOW_ALL = Uint8Array.of(0x06, 0, 0, 0, 0, 0, 0xff, 0x7f);

function withoutFilter(plan: SandboxPlan, isWithout: boolean): SandboxPlan {
  return isWithout ? { ...plan, seccomp: { bytes: ALLOW_ALL, instructions: 1, digest: "" } } : plan;
}

function wanted(
  root: string,
  command: Command,
  { judge = EVERYTHING, limits, environment = {}, root: other = root, egress, selection, landing }: Differences,
) {
  const argv = typeof command === "string" ? (["bash", "--noprofile", "--norc", "-c", command] as const) : command;
  return {
    root: other,
    judge,
    landing: { newFiles: unnotedNames, ...landing },
    command: argv,
    workDir: "/workspace",
    environment,
    limits: { ...LIMITS, ...limits },
    ...(egress && { egress }),
    ...(selection && { selection }),
  };
}

function planOf(request: ReturnType<typeof wanted>): SandboxPlan {
  const { root, judge, environment } = request;
  const { mounts, path } = systemView([]);
  const look = new WorkspaceLook(root, workspaceTree(root), judge);
  atOnce(look.steps());
  const workspace = atOnce(look.result());
  const plain = { ...request, system: mounts, workspace, environment: { PATH: path.join(":"), ...environment } };
  return planSandbox(plain, process.arch as Processor);
}

async function collected(
  run: (output: { stdout: (piece: Uint8Array) => void; stderr: (piece: Uint8Array) => void }) => Promise<Ran["end"]>,
): Promise<Ran> {
  const [stdout, stderr]: Uint8Array[][] = [[], []];
  const end = await run({ stdout: (piece) => void stdout?.push(piece), stderr: (piece) => void stderr?.push(piece) });
  return {
    stdout: Buffer.concat(stdout ?? []).toString("utf8"),
    stderr: Buffer.concat(stderr ?? []).toString("utf8"),
    end,
  };
}

/** A line of Perl that makes system calls and says what came of each: `ok`, or the number of the error. */
export function perl(body: string): readonly ["perl", "-e", string] {
  return [
    "perl",
    "-e",
    `$| = 1; sub try { my @all = @_; my $got = syscall(shift @all, @all); print $got == -1 ? $! + 0 : "ok", "\\n"; $got }\n${body}`,
  ];
}

/** Runs a program of the machine for the test's own ends, as the sandbox's user. */
export function asSandboxUser(program: string, ...rest: readonly string[]): string {
  const isRoot = process.geteuid?.() === 0;
  const { stdout, stderr, status } = spawnSync(program, rest, {
    encoding: "utf8",
    ...(isRoot && { uid: SANDBOX_USER_ID, gid: SANDBOX_USER_ID }),
    cwd: "/",
  });
  if (status !== 0) throw new Error(`\`${program}\` ended with ${status}: ${stderr}`);
  return stdout;
}

/** Arguments of a process, one space between two; nothing where it has ended. */
export function commandLineOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "latin1").split("\0").join(" ");
  } catch {
    return ""; // it ended meanwhile
  }
}

/** Numbers of the machine's processes whose arguments hold `text`, but for this one. */
export function processesNaming(text: string): readonly string[] {
  const others = readdirSync("/proc").filter((id) => /^\d+$/.test(id) && Number(id) !== process.pid);
  return others.filter((id) => commandLineOf(id).includes(text));
}
