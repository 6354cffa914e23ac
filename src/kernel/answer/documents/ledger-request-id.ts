/** Cuts the id of a request to what an entry of the ledger holds of it. */
import { MAX_ID_LEN } from "../../../base/limits.ts";

/** The id of a request as entries and references of the ledger name it. */
export function ledgerRequestId(requestId: string): string {
  return requestId.slice(0, MAX_ID_LEN).toWellFormed();
}
