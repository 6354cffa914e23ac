/** Another kernel that revokes a session and releases its lease. */
import { openStateStores } from "../../../src/stores/embedded/sessions/state-stores.ts";

const [stateDirectory = "", session = "", lease = ""] = process.argv.slice(2);
const { sessions: store } = await openStateStores(stateDirectory);
await store.updateSession(session, { revokedAtMs: 3000 });
await store.updateLease(lease, { releasedAtMs: 3000 });
process.stdout.write("revoked\n");
await store.close();
