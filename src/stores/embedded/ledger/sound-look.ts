/** Opens a ledger anew to be looked at, once its log was found to be what was written to it. */
import { join } from "node:path";
import { openLedgerStoreReadOnly } from "./ledger-store.ts";
import { SoundLog } from "./sound-log.ts";

/** Looks at one ledger, again and again. @returns what rejects with KernelError STORE_CORRUPT when its log is not */
export function soundLook(stateDirectory: string): () => ReturnType<typeof openLedgerStoreReadOnly> {
  const log = new SoundLog(join(stateDirectory, "ledger.db-wal"));
  return async () => {
    const store = await openLedgerStoreReadOnly(stateDirectory);
    try {
      log.require((await store.head()).sequence);
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  };
}
