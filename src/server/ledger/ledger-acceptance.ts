/**
 * A person accepts that entries of the ledger are lost: that is recorded in what is left, and anchored.
 *
 * INVARIANT: only what the anchor or the ledger itself says is lost can be accepted, never an entry that does not
 * verify. INVARIANT: who accepts and why stands in the chain before the anchor moves.
 */

import { systemClock } from "../../base/clock.ts";
import { KernelError, storeCorrupt, usageError } from "../../base/errors.ts";
import { systemRandom } from "../../base/ids.ts";
import { LEDGER_READ_ROWS_MAX } from "../../base/limits.ts";
import { byPerson } from "../../ledger/actors.ts";
import { chainOf, compareWithAnchor, lostChain } from "../../ledger/anchor.ts";
import type { Anchor, AnchorStore } from "../../ledger/anchor-store.ts";
import { pendingEntry } from "../../ledger/chain.ts";
import { decodeEntry } from "../../ledger/entry.ts";
import { appendBatch } from "../../ledger/ledger.ts";
import type { LedgerStore } from "../../ledger/ledger-store.ts";
import type { LedgerEvent } from "../../model/outcome/event.ts";
import { openAnchorStore } from "../../stores/embedded/ledger/anchor-store.ts";
import { openInstanceStore } from "../../stores/embedded/ledger/instance-store.ts";
import { openLedgerStore } from "../../stores/embedded/ledger/ledger-store.ts";
import { isStateLost, openStateStores } from "../../stores/embedded/sessions/state-stores.ts";
import { evidenceKey, isEvidenceKeyLost } from "./evidence-key.ts";
import { restarted } from "./ledger-anchoring.ts";
import { FREEZE_REASON_CHARACTERS_MAX } from "./limits.ts";

/** Who accepts, and why. */
export interface Acceptance {
  readonly by: string;
  readonly reason: string;
}

/**
 * Accepts what the ledger of a state directory has lost.
 * @returns the sequence of the entry that says so
 * @throws KernelError USAGE when nothing is lost, or no reason is given
 */
export async function acceptLoss(stateDirectory: string, act: Acceptance): Promise<number> {
  const reason = act.reason.trim();
  if (reason === "" || reason.length > FREEZE_REASON_CHARACTERS_MAX)
    throw usageError(`say why with \`--reason\`, in at most ${FREEZE_REASON_CHARACTERS_MAX} characters`);
  const instance = await (await openInstanceStore(stateDirectory, systemRandom)).claim();
  try {
    const store = await openLedgerStore(stateDirectory);
    try {
      const gone = { isStateLost: isStateLost(stateDirectory), isKeyLost: isEvidenceKeyLost(stateDirectory) };
      const parts = { store, anchors: openAnchorStore(stateDirectory), instanceId: instance.id, ...gone };
      const sequence = await accept(parts, { by: act.by, reason });
      if (parts.isStateLost) await (await openStateStores(stateDirectory, true)).sessions.close();
      if (parts.isKeyLost) await evidenceKey(stateDirectory, systemRandom, true);
      return sequence;
    } finally {
      await store.close();
    }
  } finally {
    await instance.release();
  }
}

interface Accepted {
  readonly store: LedgerStore;
  readonly anchors: AnchorStore;
  readonly instanceId: string;
  readonly isStateLost: boolean;
  readonly isKeyLost: boolean;
}

async function accept(
  { store, anchors, instanceId, isStateLost, isKeyLost }: Accepted,
  { by, reason }: Acceptance,
): Promise<number> {
  const nowMs = systemClock.nowMs();
  const loss = await lossOf(store, anchors);
  if (loss === undefined && !isStateLost && !isKeyLost && !(await saysLost(store)))
    throw usageError("nothing is lost that could be accepted");
  const accepted: LedgerEvent = {
    type: "ledger_accepted",
    ...byPerson(by),
    timeMs: nowMs,
    payload: {
      by,
      reason,
      ...(isStateLost && { stateLost: true }),
      ...(isKeyLost && { keyLost: true }),
      severity: "warning",
    },
  };
  const events = [...(loss ? [restarted(loss, nowMs)] : []), accepted].map((event) => pendingEntry(event, "durable"));
  const sequence = (await appendBatch(store, events, { instanceId, random: systemRandom })).at(-1) ?? 0;
  const chain = await chainOf(store);
  if (chain !== undefined) anchors.replace({ chain, ...store.place().head });
  await store.markAnchored();
  return sequence;
}

/** What the anchor says is lost, as it is recorded; `undefined` when it fits. */
async function lossOf(store: LedgerStore, anchors: AnchorStore): Promise<LedgerEvent["payload"] | undefined> {
  const { anchor, problem } = readAnchor(anchors);
  if (problem !== undefined) return { problem };
  const finding = await compareWithAnchor(store, anchor);
  const lost = anchor === undefined ? {} : { lost: lostChain(anchor) };
  if (finding.kind === "broken") return { problem: finding.problem, ...lost };
  return finding.kind === "gone" ? lost : undefined;
}

function readAnchor(anchors: AnchorStore): { readonly anchor?: Anchor; readonly problem?: string } {
  try {
    const anchor = anchors.read();
    return anchor === undefined ? {} : { anchor };
  } catch (error) {
    if (error instanceof KernelError && error.code === "STORE_CORRUPT") return { problem: "the anchor cannot be read" };
    throw error;
  }
}

/** Whether the chain says of itself that entries are lost, and nobody has accepted that. */
async function saysLost(store: LedgerStore): Promise<boolean> {
  let lost = false;
  for (let from = 1; ; ) {
    const rows = await store.read(from, LEDGER_READ_ROWS_MAX);
    for (const { entry, sequence } of rows) {
      const decoded = decodeEntry(entry);
      if (decoded.kind === "malformed")
        throw storeCorrupt(`entry ${sequence} of the ledger is damaged; run \`handrail ledger verify\``);
      if (decoded.entry.eventType === "ledger_restarted") lost = true;
      else if (decoded.entry.eventType === "ledger_accepted") lost = false;
    }
    const last = rows.at(-1);
    if (last === undefined) return lost;
    from = last.sequence + 1;
  }
}
