/**
 * A kernel that stores the same few contents as others do, publishes some, reads them back, and prints what went wrong.
 * Arguments: state directory, a name, rounds.
 */
import { systemRandom } from "../../../src/base/ids.ts";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import { openContentStore } from "../../../src/stores/embedded/content/content-store.ts";
import { openInstanceStore } from "../../../src/stores/embedded/ledger/instance-store.ts";
import { bytesOf, publish, store } from "../../stores/content-contract.ts";

const [stateDirectory = "", name = "", rounds = "0"] = process.argv.slice(2);
const OWNER = { userId: "ann", workspace: "/srv/a" };
const instances = await openInstanceStore(stateDirectory, systemRandom);
const instance = await instances.claim();
const content = openContentStore({
  stateDirectory,
  instanceId: instance.id,
  isInstanceAlive: instances.isAlive,
  nowMs: Date.now,
  random: systemRandom,
  onCorrupt: (hash) => void process.stdout.write(`corrupt ${hash}\n`),
});
let published = 0;
let collected = 0;
for (let round = 0; round < Number(rounds); round += 1) {
  const text = `content ${round % 7} `.repeat(1000);
  const { hash } = await store(content, text, OWNER, Date.now());
  // Without a grace it may be collected at once; what was published never is.
  const { kind } = await publish(content, `${name}-${round}`, hash, OWNER, Date.now());
  if (kind === "published" && round % 7 > 3) published += 1;
  try {
    const bytes = await bytesOf(content, hash);
    if (bytes.toString() !== text) process.stdout.write(`wrong ${hash}\n`);
  } catch (error) {
    if (!(error instanceof ToolFailure) || error.code !== "CONTENT_NOT_FOUND" || kind === "published") {
      process.stdout.write(`failed ${String(error)} after ${kind}\n`);
    } else collected += 1;
  }
  await store(content, `loose ${name} ${round}`, OWNER, Date.now());
}
process.stdout.write(`done ${published} ${collected}\n`);
await content.close();
await instance.release();
