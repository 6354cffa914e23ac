/** The records of a kernel's beginning and end, and what it takes over or removes of kernels that are gone. */

import { existsSync } from "node:fs";
import { systemClock } from "../base/clock.ts";
import { storeCorrupt, storeUnavailable } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { KernelSettings, ToolRegistry } from "../kernel/index.ts";
import { BY_KERNEL, byPerson } from "../ledger/actors.ts";
import { closeOrphans } from "../ledger/orphans.ts";
import { recoverSpools, spoolDamage } from "../ledger/spool-recovery.ts";
import { type Leftovers, sweepLeftFiles } from "../sandbox/files/left-files.ts";
import { leftViews, type ViewNames, viewPlaces } from "../sandbox/layers/view-directories.ts";
import type { NewFileStore } from "../sandbox/ports/new-file-store.ts";
import type { CurrentRedactor } from "./configuration.ts";
import type { LedgerThread } from "./ledger/ledger-messages.ts";
import { registryHash } from "./operator/operator-gates.ts";

/** A kernel that has just been opened. */
export interface StartedKernel {
  readonly instanceId: string;
  readonly instances: Parameters<typeof closeOrphans>[1];
  readonly registry: ToolRegistry;
  readonly settings: Pick<KernelSettings, "armed" | "gates">;
}

/** Records the start, takes over what dead instances had spooled, and closes the intents that they left open. */
export async function announce(
  ledger: LedgerThread,
  started: StartedKernel,
  report: (error: unknown) => void,
): Promise<void> {
  const { instanceId, instances, registry } = started;
  const { armed, gates } = started.settings;
  const timeMs = systemClock.nowMs();
  const tools = registry.getAll().map((tool) => tool.name);
  const payload = {
    instanceId,
    registry: registryHash(registry, gates),
    ...(gates.hash !== "" && { gates: gates.hash }),
    tools,
  };
  await ledger.record({ type: "kernel_started", ...BY_KERNEL, timeMs, payload }, "buffered");
  if (armed) {
    const reach = { reach: "kernel", instanceId, severity: "warning" };
    await ledger.record({ type: "armed", ...byPerson("TOOLS_ARM"), timeMs, payload: reach }, "durable");
  }
  for (const recovery of await recoverSpools(ledger, instances, timeMs)) {
    const damage = spoolDamage(recovery);
    if (damage !== undefined) report(damage);
  }
  if (ledger.isAnew()) report(storeCorrupt(LEDGER_GONE));
  await closeOrphans(ledger, instances, timeMs);
}

const LEDGER_GONE =
  "the ledger that stood in the state directory is gone or damaged, and another one was begun, which says so: stop every kernel, keep a copy of the state directory and restore the newest backup, or accept the loss with `handrail ledger accept --reason <why>`";

/** How is told what was found. */
interface Telling {
  readonly redactor: CurrentRedactor;
  readonly report: (error: unknown) => void;
}

/**
 * Takes back what dead kernels had begun to land in workspaces, and records each.
 * @param views where views lie
 */
export async function takeBackLandings(
  ledger: Pick<LedgerThread, "record">,
  views: { readonly directory: string; readonly names: ViewNames },
  { tell, ...telling }: Telling & { readonly tell: (message: string) => void },
): Promise<void> {
  const places = viewPlaces(views.directory).filter((place) => existsSync(place));
  const left = await Promise.all(places.map((place) => leftViews(place, views.names)));
  if (!left.flat().some(({ isLanding }) => isLanding)) return;
  const { recoverLandings } = await import("../sandbox/landing/recovery/recovery.ts");
  const redactor = await telling.redactor();
  for (const { root, left, kept } of await recoverLandings(views.directory, views.names, telling.report)) {
    const first = redactor.shownPath(left[0] ?? "");
    const payload = { root, ...(kept !== undefined && { kept, left: left.length, first }) };
    const type = kept === undefined ? "landing_taken_back" : "landing_interrupted";
    await ledger.record({ type, ...BY_KERNEL, timeMs: systemClock.nowMs(), payload }, "durable");
    tell(
      kept === undefined
        ? `a killed kernel had begun to land what a command changed in \`${root}\`; it was taken back`
        : `a killed kernel had begun to land what a command changed in \`${root}\`; it was left as it is, because somebody has gone on since (${left.length} changed, such as \`${first}\`): both sides are kept in \`${kept}\`, whose \`upper\` is what the command wrote and \`side\` what stood there before; \`handrail landings\` shows it, does the rest or drops it`,
    );
  }
}

/** Removes the files in the making that dead instances left in workspaces. */
export async function sweepDeadInstances(
  store: NewFileStore,
  leftovers: Leftovers,
  { redactor, report }: Telling,
): Promise<void> {
  const { unseen } = await sweepLeftFiles(store, leftovers);
  const [first] = unseen;
  if (first === undefined) return;
  const others = unseen.length === 1 ? "" : ` and ${unseen.length - 1} more`;
  const place = (await redactor()).shownPath(first);
  const next = "run `handrail doctor --workspace` for the workspaces that they belong to";
  report(storeUnavailable(`what a killed kernel left in \`${place}\`${others} cannot be looked at; ${next}`));
}

/** Records that the kernel's thread stood. */
export async function recordStall(ledger: LedgerThread, instanceId: string, facts: JsonObject): Promise<void> {
  const payload = { instanceId, ...facts };
  await ledger.record({ type: "kernel_stalled", ...BY_KERNEL, timeMs: systemClock.nowMs(), payload }, "buffered");
}

/** Records the end. */
export async function recordStop(ledger: LedgerThread, instanceId: string): Promise<void> {
  const payload = { instanceId };
  await ledger.record({ type: "kernel_stopped", ...BY_KERNEL, timeMs: systemClock.nowMs(), payload }, "durable");
}
