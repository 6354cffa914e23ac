/**
 * Says at the begin of every command what is wrong with the state that it works on.
 *
 * INVARIANT: a state directory of somebody else is refused, whatever the command; a damaged or foreign store in an own
 * one is said, and refused by whatever needs it.
 */
import { lstatSync } from "node:fs";
import { storeUnavailable } from "../base/errors.ts";
import { isLedgerKnownDamaged, lookAtState } from "../stores/embedded/state/state-look.ts";

/** Said where the ledger is only read, which damage does not keep anybody from. */
const LEDGER_DAMAGED =
  "`ledger.db` in the state directory was found damaged, so that what it shows may not be what happened; `handrail ledger verify` says what is lost";

/**
 * What to warn of. @param readsLedger whether the command shows entries without verifying them
 * @throws KernelError STORE_UNAVAILABLE for a state directory that is none, or belongs to somebody else
 */
export function stateWarnings(stateDirectory: string, readsLedger: boolean): readonly string[] {
  const found = lstatSync(stateDirectory, { throwIfNoEntry: false });
  if (found === undefined) return [];
  const refuse = (why: string) => storeUnavailable(`the state directory \`${stateDirectory}\` ${why}`);
  if (!found.isDirectory()) throw refuse("is not a directory; name a directory of your own");
  if (found.uid !== process.geteuid?.()) throw refuse("belongs to another user; run this as its owner");
  const ledger = readsLedger && isLedgerKnownDamaged(stateDirectory) ? [LEDGER_DAMAGED] : [];
  return [...lookAtState(stateDirectory), ...ledger];
}
