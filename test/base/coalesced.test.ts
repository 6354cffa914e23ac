/** Work that is shared: who asks while a run is under way gets the next one, never that one. */
import { expect, test } from "vitest";
import { Coalesced } from "../../src/base/coalesced.ts";

/** Work whose runs the test ends. */
function held() {
  const runs: PromiseWithResolvers<void>[] = [];
  const shared = new Coalesced(() => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  return { shared, runs };
}

const turn = () => new Promise((done) => setImmediate(done));

test("those who ask during a run share the next one, which begins after it", async () => {
  const { shared, runs } = held();
  const ended: string[] = [];
  const ask = (name: string) => shared.run().then(() => void ended.push(name));
  const all = [ask("first"), ask("second"), ask("third")];
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  await turn();
  expect(ended).toEqual(["first"]);
  expect(runs).toHaveLength(2);
  all.push(ask("fourth"));
  runs[1]?.resolve();
  await turn();
  expect(ended).toEqual(["first", "second", "third"]);
  runs[2]?.resolve();
  await Promise.all(all);
  expect(runs).toHaveLength(3);
  expect(shared.idle).toBe(true);
});

test("a run that fails fails those who waited for it alone", async () => {
  const { shared, runs } = held();
  const answers = [shared.run(), shared.run()];
  runs[0]?.reject(new Error("no disk"));
  await expect(answers[0]).rejects.toThrow("no disk");
  await turn();
  runs[1]?.resolve();
  await expect(answers[1]).resolves.toBeUndefined();
  await shared.settled();
  expect(shared.idle).toBe(true);
});
