/** A kernel that replaces files of a workspace one after the other, until it is killed. */
import { createKernel } from "../../../src/index.ts";

const [stateDirectory = "", configDirectory = "", workspace = ""] = process.argv.slice(2);
const kernel = await createKernel({ stateDirectory, configDirectory, environment: {} });
const session = await kernel.openSession({ workspace });
const content = `${"a line of a file that takes a while to write\n".repeat(20_000)}`;
console.log(`ready ${kernel.instanceId}`);
for (let round = 0; ; round += 1) {
  const { outcome } = (
    await session.call("write_file", { path: `deep/inside/file-${process.pid}-${round % 3}.txt`, content })
  ).response;
  if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
}
