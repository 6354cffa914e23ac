// Two calls that each make one part of a repository in the same directory, at the same moment.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { newPlace } from "../../../support/files-fixture.ts";

const ROUNDS = 200;
const MAKER = new URL("../../../support/store-maker.ts", import.meta.url);

test("of two calls that make the parts of a repository at the same moment one at most makes its part", async () => {
  const place = newPlace();
  const { root } = place;
  onTestFinished(() => place.close());
  for (let round = 0; round < ROUNDS; round += 1) mkdirSync(join(root, String(round)));
  const arrived = new SharedArrayBuffer(4);
  const made = (part: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const worker = new Worker(MAKER, { workerData: { root, part, rounds: ROUNDS, arrived } });
    worker.on("error", reject);
    worker.on("exit", () => resolve());
    return promise;
  };
  await Promise.all([made("objects"), made("refs")]);
  const standing = Array.from({ length: ROUNDS }, (_, round) =>
    ["objects", "refs"].filter((part) => existsSync(join(root, String(round), part))),
  );
  expect(standing.filter((parts) => parts.length > 1)).toEqual([]);
  expect(standing.flat().length).toBeGreaterThan(0);
});
