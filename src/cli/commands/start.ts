/**
 * Shows the kernel at work on a workspace and keeps serving it (`handrail start`).
 *
 * This is the main job: it opens a workspace, makes six real calls through the kernel, verifies the evidence, says how
 * to connect a client, and keeps serving. It exits 1 when any call is decided otherwise than it should be, or when the
 * ledger is damaged.
 */
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import { newId, systemRandom } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { quoted } from "../../model/place/command.ts";
import type { MintedSession, OpenKernel } from "../../server/compose.ts";
import { defaultStatePath } from "../../server/operator/operator-directory.ts";
import { packageFile } from "../../server/operator/package-files.ts";
import { stateDirectoryOf } from "../start/freeze-options.ts";
import { openFromFlags, UNSANDBOXED, UNUSUAL } from "../start/kernel-options.ts";
import { LAUNCH } from "../start/own-name.ts";
import { untilStopped } from "../start/stop-signals.ts";
import { EXIT_FAILURE, EXIT_OK } from "../terminal/exit-codes.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, say, visible } from "../terminal/output.ts";

interface StartFlags {
  readonly workspace?: string;
  readonly state?: string;
  readonly config?: string;
  readonly once?: boolean;
  readonly allowUnsandboxedCommands?: boolean;
  readonly allowUnusualWorkspace?: boolean;
}

interface Step {
  readonly tool: string;
  readonly args: JsonObject;
  readonly expected: "success" | "denied";
}

const PROBES_MAX = 100;

/** Adds `handrail start`. */
export function addStartCommand(program: Command): void {
  program
    .command("start")
    .description("show the kernel at work on a workspace, verify its ledger, and keep serving")
    .option("--workspace <directory>", "workspace root (default: a copy of the bundled example service)")
    .option(
      "--state <directory>",
      "state directory (default: with --workspace the usual one, else a temporary one that is gone at the end)",
    )
    .option("--config <directory>", "operator directory")
    .option(...UNSANDBOXED)
    .option(...UNUSUAL)
    .option("--once", "exit after the check instead of serving")
    .action(async (flags: StartFlags) => {
      process.exitCode = await start(flags);
    });
}

async function start(flags: StartFlags): Promise<number> {
  if (flags.workspace !== undefined) {
    return showOn({ ...flags, workspace: resolve(flags.workspace), state: stateDirectoryOf(flags), isExample: false });
  }
  const temporary = mkdtempSync(join(tmpdir(), "handrail-"));
  const remove = () => rmSync(temporary, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    const state = flags.state === undefined ? join(temporary, "state") : resolve(flags.state);
    return await showOn({ ...flags, workspace: copyExample(temporary), state, isExample: true });
  } finally {
    remove();
    process.off("exit", remove);
  }
}

interface Place extends StartFlags {
  readonly workspace: string;
  readonly state: string;
  /** It is a copy of the example, and gone when the command has ended. */
  readonly isExample: boolean;
}

async function showOn(place: Place): Promise<number> {
  const {
    workspace,
    state,
    isExample,
    once,
    config,
    allowUnsandboxedCommands = false,
    allowUnusualWorkspace = false,
  } = place;
  const kernel = await openFromFlags(
    { state, allowUnsandboxedCommands, allowUnusualWorkspace, ...(config !== undefined && { config }) },
    { awaitSequences: true },
  );
  try {
    const minted = await kernel.administration.createSession({ workspace, userId: currentUser(), agentId: "start" });
    // Nobody may act under the session once the command has ended, even if its token was shown.
    const shown = { workspace, state, serving: once !== true, isExample };
    return await show(kernel, minted, shown).finally(() => kernel.administration.endSession(minted.session));
  } finally {
    await kernel.close();
  }
}

interface Shown extends Pick<Place, "workspace" | "state" | "isExample"> {
  readonly serving: boolean;
}

async function show(kernel: OpenKernel, minted: MintedSession, shown: Shown): Promise<number> {
  const { workspace, state, serving } = shown;
  const { id, role, preset } = minted.session;
  print(`workspace  ${workspace}\nstate      ${state}\nsession    ${id} (role ${role}, preset ${preset})\n`);
  await kernel.loadPolicy(preset);
  const asExpected = await runSteps(kernel, minted);
  const intact = await verify(state);
  printConnection(shown);
  if (!asExpected || !intact) return EXIT_FAILURE;
  if (serving) await serve(kernel, minted);
  return EXIT_OK;
}

/** A copy of the example, with what must stay unseen: a sibling service and a secret. */
function copyExample(temporary: string): string {
  const services = join(temporary, "services");
  const workspace = join(services, "orders");
  cpSync(packageFile("examples/service"), workspace, { recursive: true });
  mkdirSync(join(services, "billing"));
  writeFileSync(join(services, "billing", "README.md"), "# Billing\n\nAnother team's service.\n");
  writeFileSync(join(workspace, ".env"), "PAYMENT_KEY=not-for-agents\n");
  return workspace;
}

/** Six calls: four that a developer's agent needs, two that it must not get. */
function stepsFor(workspace: string, probe: string): readonly Step[] {
  const readme = existsSync(join(workspace, "README.md")) ? "README.md" : probe;
  return [
    { tool: "list_files", args: { path: "." }, expected: "success" },
    {
      tool: "write_file",
      args: { path: probe, content: "written through handrail\n", create_only: true },
      expected: "success",
    },
    { tool: "read_file", args: { path: readme }, expected: "success" },
    {
      tool: "edit_file",
      args: { path: probe, edits: [{ operation: "replace", match_mode: "exact", spec: "written", content: "edited" }] },
      expected: "success",
    },
    { tool: "read_file", args: { path: "../billing/README.md" }, expected: "denied" },
    { tool: "read_file", args: { path: ".env" }, expected: "denied" },
  ];
}

/** A name that nothing in the workspace bears, for the file that is written and removed again. */
function probeName(workspace: string): string {
  for (let number = 1; number <= PROBES_MAX; number += 1) {
    const name = `handrail-start-check${number === 1 ? "" : `-${number}`}.txt`;
    if (!lstatSync(join(workspace, name), { throwIfNoEntry: false })) return name;
  }
  throw usageError(`remove the files \`handrail-start-check*.txt\` from \`${workspace}\` first`);
}

/** Makes the calls, and removes the file that they wrote. */
async function runSteps(kernel: OpenKernel, minted: MintedSession): Promise<boolean> {
  const workspace = minted.session.serviceRoot;
  const probe = probeName(workspace);
  try {
    return await makeCalls(kernel, minted, stepsFor(workspace, probe));
  } finally {
    rmSync(join(workspace, probe), { force: true });
  }
}

async function makeCalls(kernel: OpenKernel, minted: MintedSession, steps: readonly Step[]): Promise<boolean> {
  let asExpected = true;
  for (const { tool, args, expected } of steps) {
    const submission = {
      kind: "call",
      requestId: newId("req", systemRandom),
      sessionToken: minted.token,
      tool,
      arguments: args,
    } as const;
    const { outcome, rules, durationMs, ledgerSequence } = await kernel.door.execute(
      submission,
      new AbortController().signal,
    );
    const decision = outcome.kind === "denied" ? "deny " : outcome.kind === "success" ? "allow" : "error";
    const detail = outcome.kind === "error" ? `${outcome.code}: ${outcome.message}` : rules.join(", ");
    const path = typeof args["path"] === "string" ? args["path"] : "";
    print(
      `${decision}  ${tool.padEnd(10)} ${visible(path).padEnd(26)} rule ${visible(detail).padEnd(28)} ${durationMs.toFixed(1).padStart(6)} ms  ledger ${ledgerSequence ?? "-"}`,
    );
    if (outcome.kind !== expected) {
      say(`handrail: \`${tool}\` on \`${visible(path)}\` should have been ${expected}`);
      asExpected = false;
    }
  }
  return asExpected;
}

async function verify(state: string): Promise<boolean> {
  const { withLedgerReader } = await import("../../server/ledger/ledger-reader.ts");
  const report = await withLedgerReader(state, (reader) => reader.verify());
  print(
    report.ok
      ? `\nledger     intact, ${report.entries} entries verified`
      : `\nledger     damaged: ${report.problems.length} problems`,
  );
  return report.ok;
}

/** How to connect a client, in lines that are right on later days: none names what is gone by then. */
function printConnection({ workspace, state, isExample, serving }: Shown): void {
  const isUsualState = state === defaultStatePath(process.env);
  const place = isExample ? ["--workspace", "."] : ["--workspace", workspace];
  const options = [...place, ...(isExample || isUsualState ? [] : ["--state", state])];
  const setup = ["setup", "claude-code", ...options];
  const args = ["mcp", ...options];
  if (isExample) print("\nthis was a copy of an example; in the directory of a project of yours:");
  // a client that was only told of this server would keep its own tools
  print(`\nconnect Claude Code:   ${[...LAUNCH, ...setup].map(quoted).join(" ")}`);
  const [command = "", ...words] = LAUNCH;
  print(
    `any other MCP client:  ${JSON.stringify({ mcpServers: { handrail: { command, args: [...words, ...args] } } })}`,
  );
  const verify = ["ledger", "verify", ...(isUsualState ? [] : ["--state", state])];
  if (!isExample) print(`verify the ledger:     ${[...LAUNCH, ...verify].map(quoted).join(" ")}`);
  else if (serving) print(`while this serves:     ${[...LAUNCH, ...verify].map(quoted).join(" ")}`);
}

async function serve(kernel: OpenKernel, minted: MintedSession): Promise<void> {
  const { serveSocket } = await import("../../server/doors/serve-framed.ts");
  const path = join(kernel.stateDirectory, "handrail.sock");
  const server = await serveSocket(kernel, path);
  const stopped = untilStopped(); // whoever has read the line may stop it at once
  print(`\nserving framed requests on ${path}\nsession token (shown this once): ${minted.token}\npress Ctrl-C to stop`);
  await stopped;
  await server.close();
}
