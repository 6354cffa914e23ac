/** A kernel in the middle of an upload that never ends; it waits to be killed. Argument: state directory. */
import { systemRandom } from "../../../src/base/ids.ts";
import { openContentStore } from "../../../src/stores/embedded/content/content-store.ts";
import { openInstanceStore } from "../../../src/stores/embedded/ledger/instance-store.ts";

const [stateDirectory = ""] = process.argv.slice(2);
const instances = await openInstanceStore(stateDirectory, systemRandom);
const instance = await instances.claim();
const content = openContentStore({
  stateDirectory,
  instanceId: instance.id,
  isInstanceAlive: instances.isAlive,
  nowMs: Date.now,
  random: systemRandom,
  onCorrupt: () => undefined,
});
const waits = setInterval(() => undefined, 1000);
async function* endless(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(3 * 1024 * 1024, "half");
  process.stdout.write(`uploading ${instance.id}\n`);
  await new Promise(() => undefined);
}
await content.stage(endless(), {}, new AbortController().signal);
clearInterval(waits);
