/**
 * Reports for `handrail doctor` on the sandbox in force and on each sandbox's abilities on this machine.
 *
 * They are found out by running a command in each sandbox. A sandbox that is not in force is no fault, whatever it
 * cannot do.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import type { SandboxSettings } from "../../config/sections/sandbox.ts";
import { systemView } from "../../sandbox/host/system-view.ts";
import { INSIDE_WORKSPACE } from "../../sandbox/plan/plan.ts";
import type { ScopeJudge } from "../../sandbox/plan/workspace-mounts.ts";
import type { ChosenView, SandboxDiagnosis } from "../../sandbox/sandbox.ts";
import { type KernelOptions, viewsIn } from "../open-parts.ts";
import { openSandbox } from "../operator/open-sandbox.ts";
import { defaultStatePath, type OperatorDirectory } from "../operator/operator-directory.ts";
import { workspaceDirectory } from "../workspace/workspace-catalog.ts";
import { attempt as attemptFinding, type Finding, faultOf } from "./finding.ts";

/** Paths of the machine that the finding names. */
const SEEN_LISTED_MAX = 5;
/** Milliseconds that the command of `handrail doctor` may run. */
const DOCTOR_RUN_MS = 10_000;

const CONTAINED = ["bwrap", "container"] as const;

/** The findings; none throws. */
export async function sandboxFindings({ settings }: Pick<OperatorDirectory, "settings">): Promise<readonly Finding[]> {
  const check = "sandbox";
  const { backend } = settings.sandbox;
  const tried = await Promise.all(CONTAINED.map(async (each) => [each, await attempt(settings, each)] as const));
  const others = tried.flatMap(([each, { ok }]) => (each === backend ? [] : `\`${each}\` ${ok ? CAN : CANNOT}`));
  const other: Finding = { check: "sandbox backends", status: "ok", detail: `not in force: ${others.join("; ")}` };
  if (backend === "none") return [{ check, status: "advisory", detail: NOTHING, fix: CHOOSE }, other];
  const inForce = tried.find(([each]) => each === backend)?.[1];
  const detail = `\`${backend}\` is in force: ${inForce?.detail}`;
  if (inForce?.ok === true) return [{ check, status: "ok", detail }, other];
  return [faultOf(check, detail, "mend that, or choose another `sandbox.backend` in handrail.yaml"), other];
}

const CAN = "could be, and contains commands here, too";
const CANNOT = "cannot be used here as it is (chosen as `sandbox.backend`, it says why)";
const CHOOSE = "choose `sandbox.backend: bwrap` or `container` in handrail.yaml";
const NOTHING =
  "`none` is in force: nothing keeps commands from this user's files, processes and network. They are refused unless the kernel was started with " +
  "--allow-unsandboxed-commands, and for tools whose capability does not say `sandbox: none`";

async function attempt(
  settings: OperatorDirectory["settings"],
  backend: SandboxSettings["backend"],
): Promise<{ ok: boolean; detail: string }> {
  try {
    return { ok: true, detail: await contain({ ...settings, sandbox: { ...settings.sandbox, backend } }) };
  } catch (error) {
    return { ok: false, detail: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  const { message, suggestion } = error as { readonly message?: string; readonly suggestion?: string };
  return [message ?? String(error), suggestion].filter(Boolean).join("; ");
}

const EVERYTHING: ScopeJudge = { entry: () => "write", below: () => "write", isWhole: () => false };

/** Directories of people, in which a command sees nothing but what is shown to it on purpose. */
export const HOMES = ["/root", "/home"] as const;

/**
 * What a listing of each home, and of each directory in it that leads to something shown, says inside: nothing but what
 * is shown. Programs are shown at their own places, and Node or a toolchain of the operator's may lie in a home.
 */
export function shownInHomes(targets: readonly string[]): {
  readonly directories: readonly string[];
  readonly entries: readonly string[];
} {
  const entries = new Set<string>();
  for (const target of targets.filter((path) => HOMES.some((home) => path.startsWith(`${home}/`))))
    for (let path = target; !HOMES.some((home) => home === path); path = dirname(path)) entries.add(path);
  const leading = [...entries].filter((path) => !targets.includes(path));
  return { directories: [...HOMES, ...leading].sort(), entries: [...entries].sort() };
}

/** Names the first path if it is there at all, and what lies in the directories behind it; a path in each line. */
const LIST: string = [
  "id -u",
  '[ ! -e "$1" ] || echo "$1"',
  "shift",
  'for d; do for e in "$d"/* "$d"/.[!.]* "$d"/..?*; do if [ -e "$e" ] || [ -L "$e" ]; then echo "$e"; fi; done; done',
].join("\n");

/** The command that says who it is and what it sees of people's homes, and of `hidden`, which it must not see. */
export function lookingCommand(hidden: string, directories: readonly string[]): readonly [string, ...string[]] {
  return ["sh", "-c", LIST, "sh", hidden, ...directories];
}

/** Why what the command said shows that the machine is not hidden from it; nothing when it is. */
export function notHidden(said: string, meant: readonly string[]): string | undefined {
  const [user = "", ...seen] = said.trimEnd().split("\n");
  const others = seen.filter((path) => !meant.includes(path));
  if (user === "1000" && others.length === 0) return undefined;
  const listed = others.slice(0, SEEN_LISTED_MAX).map((path) => `\`${path}\``);
  return `a command ran as user \`${user}\` and saw ${listed.join(", ") || "nothing"} of the machine, which is not hidden from it; let no agent run commands here`;
}

/** A command must run, and see nothing of the machine but what it may. */
async function contain(settings: OperatorDirectory["settings"]): Promise<string> {
  const base = mkdtempSync(join(tmpdir(), "handrail-doctor-"));
  const root = join(base, "workspace");
  mkdirSync(root);
  const wishes = { viewsDirectory: join(base, "views") };
  const {
    sandbox: commands,
    endRuns,
    close,
  } = openSandbox({ operator: { settings } }, `doctor-${settings.sandbox.backend}`, wishes);
  const { directories, entries } = shownInHomes(
    systemView(settings.sandbox.toolchains).mounts.map(({ target }) => target),
  );
  try {
    const opened = await commands.open();
    let said = "";
    const take = (piece: Uint8Array) => {
      said += Buffer.from(piece).toString("latin1");
    };
    const run = {
      root,
      judge: EVERYTHING,
      landing: { newFiles: { nameIn: () => "doctor", noteMade: () => undefined } },
      command: lookingCommand(base, directories),
      workDir: INSIDE_WORKSPACE,
      environment: {},
      limits: { ...commands.limits(), timeoutMs: DOCTOR_RUN_MS },
    };
    const { problem } = await opened.run(run, { stdout: take, stderr: take }, new AbortController().signal);
    if (problem !== undefined) throw problem;
    const problemSeen = notHidden(said, entries);
    if (problemSeen !== undefined) throw new Error(problemSeen);
    return described(opened.diagnose());
  } finally {
    await endRuns();
    await close();
    rmSync(base, { recursive: true });
  }
}

/** What commands in the workspace at `path` write into; does not throw. */
export function viewFinding(
  operator: () => Promise<Pick<OperatorDirectory, "settings">>,
  path: string,
  { stateDirectory, environment }: Pick<KernelOptions, "environment" | "stateDirectory">,
): Promise<Finding> {
  const fix = "name a workspace that this user may use, or see `sandbox.views` in docs/reference/configuration.md";
  return attemptFinding("views of the workspace", fix, async () => {
    const root = workspaceDirectory(path);
    const viewsDirectory = viewsIn(stateDirectory ?? defaultStatePath(environment));
    const { settings } = await operator();
    const { sandbox, endRuns, close } = openSandbox({ operator: { settings } }, "doctor-views", { viewsDirectory });
    try {
      const view = await (await sandbox.open()).viewOf(root);
      return view === undefined ? "commands write into the workspace itself" : ofView(view);
    } finally {
      await endRuns();
      await close();
    }
  });
}

function ofView({ kind, problem }: ChosenView): string {
  if (kind === "overlay") return "commands write into overlays of the workspace";
  const why = problem === undefined ? "" : `, because no overlay can be mounted (${problem})`;
  return `commands write into copies of the workspace${why}`;
}

function described({ program, controlGroups, runsAs, view }: SandboxDiagnosis): string {
  const memory =
    typeof controlGroups === "number"
      ? `control groups (version ${controlGroups})`
      : `looking at all processes of a command ten times a second: ${controlGroups.problem}`;
  return `${program} contains commands (own namespaces, a filter of system calls, no capability), as user ${runsAs}; ${view === undefined ? "" : `${ofView(view)}; `}memory is bounded by ${memory}`;
}
