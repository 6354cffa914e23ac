/** Claims an instance of the state directory, prints its id, and stays until it is killed: `claim STATE`. */
import { systemRandom } from "../../../src/base/ids.ts";
import { openInstanceStore } from "../../../src/stores/embedded/ledger/instance-store.ts";

const [state = ""] = process.argv.slice(2);
const instances = await openInstanceStore(state, systemRandom);
const { id } = await instances.claim();
process.stdout.write(`claimed ${id} as ${process.pid}\n`);
process.stdin.resume();
