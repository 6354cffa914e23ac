/**
 * Diagnoses this machine and its configuration by real checks.
 *
 * Native parts load, containment by the kernel works, directories are the operator's alone, policies are valid, and the
 * ledger takes an entry.
 */

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/ids.ts";
import { Refusal } from "../../model/outcome/failure.ts";
import { DEFAULT_PRESET } from "../../model/people/preset.ts";
import type { Workspace } from "../../model/place/workspace.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../model/place/zone.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { createFileAccess, openWorkspaceRoots } from "../../sandbox/files/files.ts";
import { type KernelOptions, openKernel } from "../compose.ts";
import { ownTools } from "../operator/built-in-tools.ts";
import { describeOverride, effectiveTools } from "../operator/capability-overrides.ts";
import {
  type Environment,
  type OperatorDirectory,
  operatorPath,
  readOperatorDirectory,
} from "../operator/operator-directory.ts";
import { problemOfGates } from "../operator/operator-gates.ts";
import { warningOfUnknownTools } from "../operator/unknown-tools.ts";
import type { ArmingAdministration } from "../people/arming-administration.ts";
import { checkPresets } from "../policy/policy-check.ts";
import { trustReports } from "../workspace/trust.ts";
import { commandsFinding } from "./doctor-commands.ts";
import { gitFindings } from "./doctor-git.ts";
import { installationFindings } from "./doctor-installation.ts";
import { sandboxFindings, viewFinding } from "./doctor-sandbox.ts";
import { stallFinding } from "./doctor-stalls.ts";
import { workspaceFinding } from "./doctor-workspace.ts";
import { attempt, type Finding } from "./finding.ts";
import { systemFindings } from "./system-finding.ts";

/** What else a person wants to know. */
export interface DiagnosisOptions extends KernelOptions {
  /** A workspace to look through for what killed kernels left. */
  readonly workspace?: { readonly path: string; readonly mend: boolean };
}

/** Runs every check; none throws. */
export async function diagnose(options: DiagnosisOptions): Promise<readonly Finding[]> {
  const { workspace, environment } = options;
  const read = () => readOperatorDirectory(options.configDirectory ?? operatorPath(environment));
  return [
    // Before a kernel is opened, which removes what it knows of.
    ...(workspace ? [await workspaceFinding(options, workspace), await commandsFinding(read, workspace.path)] : []),
    await attempt("node", () => nodeVersion()),
    await attempt("operating system", () => operatingSystem()),
    await attempt("contained file access", () => containment()),
    await attempt("operator directory", () => operatorDirectory(read)),
    await attempt("policies", () => policies(options)),
    ...(await installationFindings(read, environment)),
    ...(await sandboxFindings(read)),
    ...(workspace ? [await viewFinding(read, workspace.path, options)] : []),
    ...(await systemFindings(read)),
    ...(await gitFindings(read, environment)),
    await attempt("capabilities", async () => capabilities(await read(), options.tools)),
    await attempt("trusted workspaces", async () => trustedWorkspaces(await read())),
    ...(await ledgerAndArming(options)),
    {
      check: "boundary",
      status: "advisory",
      detail:
        "an agent that runs as your own user can go round Handrail unless its native tools are off; run `handrail serve` under another user to enforce it",
    },
  ];
}

function nodeVersion(): string {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 18))
    throw new Error(`node ${process.versions.node} is too old; use 22.18 or newer`);
  return process.versions.node;
}

function operatingSystem(): string {
  if (process.platform !== "linux")
    throw new Error(`${process.platform} has no openat2; run Handrail in a Linux virtual machine or WSL2`);
  return `${process.platform} ${process.arch}`;
}

/** A link that leaves the workspace must be refused by the kernel, and a file inside must be readable. */
async function containment(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), "handrail-doctor-"));
  try {
    writeFileSync(join(root, "inside"), "inside");
    symlinkSync("/etc/hostname", join(root, "outside"));
    const workspace: Workspace = {
      serviceRoot: root,
      projectRoot: root,
      sharedPaths: [],
      zones: compileZones(BUILT_IN_ZONE_RULES, ""),
    };
    const roots = openWorkspaceRoots(workspace);
    try {
      await checkContainment(createFileAccess({ ...accessParts(workspace), roots }));
    } finally {
      roots.close();
    }
    return "openat2 keeps links inside the workspace";
  } finally {
    rmSync(root, { recursive: true });
  }
}

function accessParts(workspace: Workspace) {
  const locks = {
    acquire: async () => ({ kind: "acquired" as const }),
    release: async () => true,
    close: async () => undefined,
  };
  return {
    workspace,
    judge: () => undefined,
    visible: () => true,
    locks,
    lockOwner: "doctor",
    newFiles: { nameIn: () => "" }, // nothing is written
    clock: systemClock,
    random: systemRandom,
    signal: new AbortController().signal,
    onLockBroken: () => undefined,
    recheck: async () => undefined,
  };
}

async function checkContainment(files: ReturnType<typeof createFileAccess>): Promise<void> {
  const inside = await files.read("inside", { bytesMax: 100 });
  if (Buffer.from(inside.bytes).toString() !== "inside") throw new Error("a file of the workspace was read wrongly");
  try {
    await files.read("outside", { bytesMax: 100 });
  } catch (error) {
    if (error instanceof Refusal) return;
    throw error;
  }
  throw new Error("a link that leaves the workspace was followed; do not use Handrail on this system");
}

async function operatorDirectory(read: () => Promise<OperatorDirectory>): Promise<string> {
  const operator = await read();
  const misspelt = warningOfUnknownTools(operator, ownTools(operator.settings));
  if (misspelt !== undefined) throw new Error(misspelt);
  const gates = problemOfGates(operator, ownTools(operator.settings));
  if (gates !== undefined) throw new Error(gates);
  return operator.exists
    ? `${operator.path}, preset ${operator.settings.preset ?? DEFAULT_PRESET}`
    : `${operator.path} is absent; defaults apply (\`handrail init\` makes it)`;
}

async function policies(options: KernelOptions): Promise<string> {
  const report = await checkPresets(options.environment, options.configDirectory, undefined);
  const problems = [...report.presets.flatMap((preset) => preset.problems), ...report.examples];
  if (!report.ok) throw new Error(problems.join("; "));
  return `${report.presets.length} presets are valid`;
}

/** What the operator loosened is no fault, but is said, so that it is meant. */
function capabilities({ settings }: OperatorDirectory, tools: readonly Tool[] = []): Omit<Finding, "check"> {
  const { overridden } = effectiveTools([...ownTools(settings), ...tools], settings);
  if (overridden.length === 0) return { status: "ok", detail: "every tool is as it declares itself" };
  const isLoosened = overridden.some(({ changes }) => changes.some(({ loosens }) => loosens));
  return { status: isLoosened ? "advisory" : "ok", detail: overridden.map(describeOverride).join("; ") };
}

/**
 * A workspace that changed since it was trusted is no fault: its own configuration only narrows until it is trusted
 * again.
 */
async function trustedWorkspaces({ trusted = [] }: OperatorDirectory): Promise<Omit<Finding, "check">> {
  const reports = await trustReports(trusted);
  const others = reports.filter(({ state }) => state !== "trusted");
  if (others.length === 0) return { status: "ok", detail: `${reports.length} trusted, all as they were` };
  const named = others.map(({ workspace, state }) => `\`${workspace}\` (${state})`).join(", ");
  const advice = "look at it and run `handrail trust`, or `--revoke`";
  return { status: "advisory", detail: `${named}: not trusted as it is now; ${advice}` };
}

async function ledgerAndArming(options: KernelOptions): Promise<readonly Finding[]> {
  let armed: Finding | undefined;
  let stateDirectory: string | undefined;
  const state = await attempt("ledger and state", async () => {
    const kernel = await openKernel({ ...options, onInternalError: () => undefined });
    try {
      const health = kernel.health();
      if (!health.writable) throw new Error(health.problem ?? "the ledger is not writable");
      armed = arming(await kernel.arming.list(), options.environment);
      stateDirectory = kernel.stateDirectory;
      return kernel.stateDirectory;
    } finally {
      await kernel.close();
    }
  });
  // The kernel is closed by now, so that the ledger is there.
  return [
    state,
    ...(armed ? [armed] : []),
    ...(stateDirectory === undefined ? [] : [await stallFinding(stateDirectory)]),
  ];
}

/** What is armed is no fault, but nobody should forget it. */
function arming(armings: Awaited<ReturnType<ArmingAdministration["list"]>>, environment: Environment): Finding {
  const check = "arming";
  const told = armings.map(
    ({ sessionId, untilMs, armedBy }) =>
      `${sessionId ?? "all sessions"} until ${new Date(untilMs).toISOString()} by ${armedBy}`,
  );
  if (environment["TOOLS_ARM"] === "1")
    told.unshift("kernels that start with this environment, because TOOLS_ARM is 1");
  if (told.length === 0) return { check, status: "ok", detail: "nothing is armed" };
  return {
    check,
    status: "advisory",
    detail: `armed: ${told.join("; ")}; \`handrail disarm\` ends what was armed by command`,
  };
}
