// A kernel that is killed in the middle of a landing, in another namespace of processes, as in a container that is
// started again: the next one takes it back, and says so to the person and in the ledger, without secrets.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { geteuid } from "node:process";
import { expect, test } from "vitest";
import { systemRandom } from "../../../src/base/ids.ts";
import type { LedgerEvent } from "../../../src/model/outcome/event.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { instanceOfName, temporaryName } from "../../../src/sandbox/files/places/temporary.ts";
import { takeBackLandings } from "../../../src/server/kernel-life.ts";
import { openInstanceStore } from "../../../src/stores/embedded/ledger/instance-store.ts";
import { startChild } from "../../support/children/run.ts";
import { killedLanding, treeOf } from "../../support/killed-landing.ts";
import { nextTick } from "../../support/landing-fixture.ts";
import { freshDirectory } from "../../support/store-place.ts";

const KEY = new Uint8Array(32).fill(7);
const NAMESPACE = ["unshare", ...(geteuid?.() === 0 ? [] : ["-r"]), "--pid", "--fork", "--kill-child"];

/** A kernel in a namespace of its own, and the names of views as the next one reads them. */
async function otherKernel() {
  const state = await freshDirectory();
  const instances = await openInstanceStore(state, systemRandom);
  const child = startChild("claim", [state], NAMESPACE);
  const [, id = "", number = ""] = /^claimed (\S+) as (\d+)$/.exec(await child.printed("claimed")) ?? [];
  const own = await instances.claim();
  const names = {
    next: () => temporaryName({ instanceId: own.id, key: KEY }, systemRandom),
    instanceOf: (name: string) => instanceOfName(name, KEY),
    isAlive: instances.isAlive,
  };
  const kill = async () => {
    child.process.kill("SIGKILL");
    await child.ended;
  };
  return { number, names, kill, view: temporaryName({ instanceId: id, key: KEY }, systemRandom) };
}

/** Takes back what lies in `directory`. @returns what was recorded and told */
async function takenBack(directory: string, names: Awaited<ReturnType<typeof otherKernel>>["names"]) {
  const recorded: LedgerEvent[] = [];
  const told: string[] = [];
  const ledger = {
    record: async (event: LedgerEvent) => {
      recorded.push(event);
      return recorded.length;
    },
  };
  const redactor = createRedactor();
  const report = (error: unknown) => {
    throw error;
  };
  await takeBackLandings(
    ledger,
    { directory, names },
    { redactor: () => redactor, tell: (text) => told.push(text), report },
  );
  return { recorded, told };
}

test("it is taken back once that kernel is gone, whose number says nothing here, and both are told", async () => {
  const { number, names, kill, view } = await otherKernel();
  expect(Number(number)).toBeLessThan(100); // the control: here, that number is somebody else's, or nobody's
  const { root, views, before } = await killedLanding({ moves: 5, name: view });
  const half = treeOf(root);
  expect(half).not.toEqual(before);
  expect(await takenBack(views, names)).toEqual({ recorded: [], told: [] });
  expect([treeOf(root), readdirSync(views)]).toEqual([half, [view]]);
  await kill();
  const { recorded, told } = await takenBack(views, names);
  expect([treeOf(root), readdirSync(views)]).toEqual([before, []]);
  expect(recorded).toMatchObject([{ type: "landing_taken_back", payload: { root } }]);
  expect(told).toEqual([expect.stringContaining(`in \`${root}\`; it was taken back`)]);
});

test("what somebody has changed since is named without its secrets", async () => {
  const { names, kill, view } = await otherKernel();
  await kill();
  const password = ["h7Kq", "pLw2", "Zx9v"].join("");
  const name = `https:bob:${password}@example.org`;
  const { root, views } = await killedLanding({ moves: 100, name: view, fresh: { [name]: "N" } });
  nextTick();
  writeFileSync(join(root, name), "a person's");
  const { recorded, told } = await takenBack(views, names);
  expect(recorded).toMatchObject([{ type: "landing_interrupted", payload: { root, left: 1 } }]);
  const said = JSON.stringify([recorded, told]);
  expect([said.includes(password), said.includes("https:bob:[REDACTED:url-password]@example.org")]).toEqual([
    false,
    true,
  ]);
  expect(existsSync(join(root, name))).toBe(true);
});
