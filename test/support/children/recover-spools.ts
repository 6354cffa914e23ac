/** A kernel that starts: when told to, recovers the spools that it finds, and prints how many events it recovered. */
import { once } from "node:events";
import { systemRandom } from "../../../src/base/ids.ts";
import { recoverSpools } from "../../../src/ledger/spool-recovery.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";
import { openInstanceStore } from "../../../src/stores/embedded/ledger/instance-store.ts";

const [stateDirectory = ""] = process.argv.slice(2);
const instances = await openInstanceStore(stateDirectory, systemRandom);
const instance = await instances.claim();
const ledger = startLedgerThread({ stateDirectory, instanceId: instance.id });
await ledger.ready();
process.stdout.write("ready\n");
await once(process.stdin.resume(), "end");
const recoveries = await recoverSpools(ledger, instances, Date.now());
process.stdout.write(`recovered ${recoveries.reduce((sum, { recovered }) => sum + recovered, 0)}\n`);
await ledger.close();
await instance.release();
