/** Another kernel that revokes a session and releases its lease. */
import { openSessionStore } from "../../../src/stores/embedded/session-store.ts";

const [stateDirectory = "", session = "", lease = ""] = process.argv.slice(2);
const store = await openSessionStore(stateDirectory);
await store.updateSession(session, { revokedAtMs: 3000 });
await store.updateLease(lease, { releasedAtMs: 3000 });
process.stdout.write("revoked\n");
await store.close();
