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
import type { Workspace } from "../../model/place/workspace.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../model/place/zone.ts";
import { createFileAccess, openWorkspaceRoots } from "../../sandbox/files/files.ts";
import { type KernelOptions, openKernel } from "../compose.ts";
import {
  defaultStatePath,
  type Environment,
  type OperatorDirectory,
  operatorPath,
  readOperatorDirectory,
} from "../operator/operator-directory.ts";
import type { ArmingAdministration } from "../people/arming-administration.ts";
import { stateWarnings } from "../state-warnings.ts";
import { boundaryFinding } from "./doctor-boundary.ts";
import { clientFindings } from "./doctor-clients.ts";
import { commandsFinding } from "./doctor-commands.ts";
import { componentFindings } from "./doctor-components.ts";
import { gitFindings } from "./doctor-git.ts";
import { installationFindings } from "./doctor-installation.ts";
import { capabilityFindings, operatorFindings, policyFindings, trustFindings } from "./doctor-operator.ts";
import { sandboxFindings, viewFinding } from "./doctor-sandbox.ts";
import { secretFindings } from "./doctor-secrets.ts";
import { stallFinding } from "./doctor-stalls.ts";
import { ownFilesFindings, unusualFindings, workspaceFinding } from "./doctor-workspace.ts";
import { attempt, type Finding, faultOf } from "./finding.ts";
import { systemFindings } from "./system-finding.ts";

/** What else a person wants to know. */
export interface DiagnosisOptions extends KernelOptions {
  /** A workspace to look through for what killed kernels left. */
  readonly workspace?: { readonly path: string; readonly mend: boolean };
}

/** Runs every check; none throws. */
export async function diagnose(options: DiagnosisOptions): Promise<readonly Finding[]> {
  const { workspace, environment } = options;
  const directory = options.configDirectory ?? operatorPath(environment);
  const read = () => readOperatorDirectory(directory);
  return [
    // Before a kernel is opened, which removes what it knows of.
    ...(workspace ? await workspaceFindings(options, read, workspace) : []),
    await attempt("node", "install Node.js 22.18 or newer", () => nodeVersion()),
    await attempt("operating system", "run Handrail on Linux", () => operatingSystem()),
    await attempt(
      "contained file access",
      "use Linux 5.6 or newer, and a temporary directory that can be written",
      () => containment(),
    ),
    ...(await operatorFindings(read, directory)),
    ...(await configured(read, options)),
    ...(await clientFindings(directory, environment)),
    boundaryFinding(process.getuid?.(), await attendedClients(read)),
  ];
}

/** Clients at which a person is said to sit; none while the operator's directory cannot be used. */
function attendedClients(read: () => Promise<OperatorDirectory>): Promise<readonly string[]> {
  return read().then(
    ({ settings }) => settings.approvals.attended_clients,
    () => [], // said by the check of the directory
  );
}

/** What is skipped without the operator's directory. */
const NEED_OPERATOR = [
  "policies",
  "sandbox",
  "components",
  "capabilities",
  "trusted workspaces",
  "ledger and state",
] as const;

/** What is to be said of a workspace. */
async function workspaceFindings(
  options: DiagnosisOptions,
  read: () => Promise<OperatorDirectory>,
  workspace: NonNullable<DiagnosisOptions["workspace"]>,
): Promise<readonly Finding[]> {
  return [
    ...(await unusualFindings(options, read, workspace.path)),
    ...(await ownFilesFindings(workspace.path)),
    await workspaceFinding(options, workspace),
    await commandsFinding(read, workspace.path),
  ];
}

/** Checks that need the operator's directory; while it cannot be read they are skipped, since its fault is said. */
async function configured(
  read: () => Promise<OperatorDirectory>,
  options: DiagnosisOptions,
): Promise<readonly Finding[]> {
  const operator = await read().catch(() => undefined); // said by the check of the directory
  if (operator === undefined) {
    const fix = "mend the operator directory, then run `handrail doctor` again";
    const detail = "not looked at, because the operator directory cannot be used";
    const skipped = (check: string): Finding => ({ check, status: "skipped", detail, fix });
    const [policies = skipped("policies"), ...others] = NEED_OPERATOR.map(skipped);
    return [policies, ...(await installationFindings(read, options.environment)), ...others];
  }
  const { workspace, environment, tools } = options;
  return [
    ...(await policyFindings(options, operator.path)),
    ...(await installationFindings(read, environment)),
    ...(await sandboxFindings(operator)),
    ...(workspace ? [await viewFinding(read, workspace.path, options)] : []),
    ...(await systemFindings(operator)),
    ...(await gitFindings(operator, environment)),
    ...(await secretFindings(operator, environment)),
    ...(await componentFindings(operator)),
    ...(await capabilityFindings(operator, tools)),
    ...(await trustFindings(operator)),
    ...stateFindings(options.stateDirectory ?? defaultStatePath(environment)),
    ...(await ledgerAndArming(options)),
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
    newFiles: { nameIn: () => "", noteMade: () => undefined }, // nothing is written
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

/** A row for each store of the state that is damaged or foreign. */
function stateFindings(stateDirectory: string): readonly Finding[] {
  const check = "stores of the state";
  const fix = "stop every kernel and restore a backup of the state directory, or use another one";
  try {
    const problems = stateWarnings(stateDirectory, true);
    if (problems.length === 0)
      return [{ check, status: "ok", detail: "each is Handrail's own, of a version that it knows" }];
    return problems.map((problem) => faultOf(check, problem, fix));
  } catch (error) {
    return [faultOf(check, error instanceof Error ? error.message : String(error), fix)];
  }
}

async function ledgerAndArming(options: KernelOptions): Promise<readonly Finding[]> {
  let armed: Finding | undefined;
  let stateDirectory: string | undefined;
  const fix = "run `handrail ledger verify`, and see docs/guide/audit.md for a damaged ledger";
  const state = await attempt("ledger and state", fix, async () => {
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
    detail: `armed: ${told.join("; ")}`,
    fix: "`handrail disarm` ends what was armed by command",
  };
}
