/** A kernel that starts: when told to, closes the orphans it finds, and prints how many. */
import { once } from "node:events";
import { systemRandom } from "../../../src/base/ids.ts";
import { closeOrphans } from "../../../src/ledger/orphans.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";
import { openInstanceStore } from "../../../src/stores/embedded/ledger/instance-store.ts";

const [stateDirectory = ""] = process.argv.slice(2);
const instances = await openInstanceStore(stateDirectory, systemRandom);
const instance = await instances.claim();
const ledger = startLedgerThread({ stateDirectory, instanceId: instance.id });
await ledger.ready();
process.stdout.write("ready\n");
await once(process.stdin.resume(), "end");
const closed = await closeOrphans(ledger, instances, Date.now());
process.stdout.write(`closed ${closed.length}\n`);
await ledger.close();
await instance.release();
