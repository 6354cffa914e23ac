/**
 * Reports for `handrail doctor` on the sandbox in force and on each sandbox's abilities on this machine.
 *
 * They are found out by running a command in each sandbox. A sandbox that is not in force is no fault, whatever it
 * cannot do.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { SandboxSettings } from "../../config/sections/sandbox.ts";
import { INSIDE_WORKSPACE } from "../../sandbox/plan/plan.ts";
import type { ScopeJudge } from "../../sandbox/plan/workspace-mounts.ts";
import type { ChosenView, SandboxDiagnosis } from "../../sandbox/sandbox.ts";
import { type KernelOptions, viewsIn } from "../open-parts.ts";
import { openSandbox } from "../operator/open-sandbox.ts";
import { defaultStatePath, type OperatorDirectory } from "../operator/operator-directory.ts";
import { workspaceDirectory } from "../workspace/workspace-catalog.ts";
import { attempt as attemptFinding, type Finding } from "./finding.ts";

/** Milliseconds that the command of `handrail doctor` may run. */
const DOCTOR_RUN_MS = 10_000;

const CONTAINED = ["bwrap", "container"] as const;

/** The findings; none throws. */
export async function sandboxFindings(
  operator: () => Promise<Pick<OperatorDirectory, "settings">>,
): Promise<readonly Finding[]> {
  let settings: OperatorDirectory["settings"];
  try {
    ({ settings } = await operator());
  } catch (error) {
    return [{ check: "sandbox", status: "failed", detail: messageOf(error) }];
  }
  const { backend } = settings.sandbox;
  const tried = await Promise.all(CONTAINED.map(async (each) => [each, await attempt(settings, each)] as const));
  const others = tried.flatMap(([each, { detail }]) => (each === backend ? [] : `\`${each}\`: ${detail}`));
  const other: Finding = { check: "sandbox backends", status: "ok", detail: `not in force: ${others.join("; ")}` };
  if (backend === "none") return [{ check: "sandbox", status: "advisory", detail: NOTHING }, other];
  const inForce = tried.find(([each]) => each === backend)?.[1];
  const detail = `\`${backend}\` is in force: ${inForce?.detail}`;
  return [{ check: "sandbox", status: inForce?.ok === true ? "ok" : "failed", detail }, other];
}

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
  try {
    const opened = await commands.open();
    let said = "";
    const take = (piece: Uint8Array) => {
      said += Buffer.from(piece).toString("latin1");
    };
    const run = {
      root,
      judge: EVERYTHING,
      landing: { newFiles: { nameIn: () => "doctor" } },
      command: ["sh", "-c", "id -u; ls /root /home 2>/dev/null"] as const,
      workDir: INSIDE_WORKSPACE,
      environment: {},
      limits: { ...commands.limits(), timeoutMs: DOCTOR_RUN_MS },
    };
    const { exitCode, problem } = await opened.run(run, { stdout: take, stderr: take }, new AbortController().signal);
    if (problem !== undefined) throw problem;
    if (said !== "1000\n")
      throw new Error(
        `a command said \`${said.trim()}\` and ended with ${exitCode}; the machine is not hidden from it`,
      );
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
  return attemptFinding("views of the workspace", async () => {
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
