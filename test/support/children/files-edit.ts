/**
 * Adds lines to one file, each in an edit of its own, under the locks of a state directory; prints `ready`, waits for
 * its input to end.
 */
import { once } from "node:events";
import { openLockStore } from "../../../src/stores/embedded/lock-store.ts";
import { endOf, openPlace } from "../files-fixture.ts";

const [base = "", root = "", stateDirectory = "", name = "", count = "0"] = process.argv.slice(2);
const locks = await openLockStore(stateDirectory);
const place = openPlace(base, root, root, "");
const files = place.access({ locks });
process.stdout.write("ready\n");
process.stdin.resume();
await once(process.stdin, "end");
const edits = Array.from({ length: Number(count) }, (_, index) =>
  endOf(() =>
    files.transform("shared.txt", 1 << 20, (original) => Buffer.concat([original, Buffer.from(`${name}-${index}\n`)])),
  ),
);
process.stdout.write(`${JSON.stringify(await Promise.all(edits))}\n`);
await locks.close();
place.roots.close();
