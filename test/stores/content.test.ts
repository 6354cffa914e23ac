/** The embedded content store keeps the contract. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemRandom } from "../../src/base/ids.ts";
import type { MaintainedContentStore } from "../../src/cas/content-store.ts";
import { openContentStore } from "../../src/stores/embedded/content/content-store.ts";
import { freshDirectory } from "../support/store-place.ts";
import { contentContract, NOW_MS, store } from "./content-contract.ts";

function open(stateDirectory: string, instanceId = "ins_a"): MaintainedContentStore {
  const content = openContentStore({
    stateDirectory,
    instanceId,
    isInstanceAlive: async () => true,
    nowMs: () => NOW_MS,
    random: systemRandom,
    onCorrupt: (hash) => {
      throw new Error(`content ${hash} was found altered`);
    },
  });
  onTestFinished(() => content.close());
  return content;
}

describe("embedded: content store", () => {
  contentContract(
    async () => open(join(await freshDirectory(), "state")),
    async () => {
      const directory = join(await freshDirectory(), "state");
      return [open(directory, "ins_a"), open(directory, "ins_b")];
    },
  );
});

test("nothing is made on disk before the first use, and everything is the owner's alone then", async () => {
  const directory = join(await freshDirectory(), "state");
  const content = open(directory);
  await expect(stat(directory)).rejects.toMatchObject({ code: "ENOENT" });
  await store(content, "x");
  const names = await readdir(directory, { recursive: true });
  const modes = await Promise.all(
    names.map(async (name) => [name, ((await stat(join(directory, name))).mode & 0o077) === 0] as const),
  );
  expect(modes.length).toBeGreaterThan(5);
  expect(modes.filter(([, closed]) => !closed)).toEqual([]);
});
