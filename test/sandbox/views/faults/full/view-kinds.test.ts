// Which kind of view commands have: an overlay where one can be mounted, else a copy, and what is said where neither
// can be.
import { spawnSync } from "node:child_process";
import { chownSync, lchownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Identity, ownIdentity } from "../../../../../src/sandbox/identity/identity.ts";
import { ViewDirectories } from "../../../../../src/sandbox/layers/view-directories.ts";
import { type ViewChoice, ViewKinds } from "../../../../../src/sandbox/views/view-kinds.ts";
import { startChild } from "../../../../support/children/run.ts";
import { newSandboxPlace, type SandboxPlace, sandboxUser } from "../../../../support/sandbox-place.ts";

const CHECKOUT = fileURLToPath(new URL("../../../../..", import.meta.url)).replace(/\/$/, "");
const isRoot = process.geteuid?.() === 0;

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace({ views: "auto" });
});
afterEach(async () => {
  await place.sandbox.endRuns();
  place.close();
});

/** Choices for a workspace in which `prefix` stands before what would mount. */
function kinds(choice: ViewChoice, prefix: readonly string[]) {
  const directories = new ViewDirectories(join(place.base, "own-views"));
  const told: string[] = [];
  const identity: Identity = {
    ...ownIdentity(place.root),
    prefix,
    views: { path: directories.base(), owner: undefined },
  };
  const made = new ViewKinds(choice, directories, (message) => void told.push(message));
  return { told, of: () => made.of(place.root, identity), forget: () => made.forget(place.root), made };
}

const counting = () => {
  const counter = join(place.base, "tries");
  writeFileSync(counter, "");
  const script = `echo >>${counter}; echo 'mount: not allowed' >&2; exit 1`;
  return { prefix: ["/bin/sh", "-c", script], tries: () => readFileSync(counter, "utf8").length };
};

test("where no overlay can be mounted it is a copy, which is found out and told once for each workspace", async () => {
  const { prefix, tries } = counting();
  const { of, told, forget, made } = kinds("auto", prefix);
  expect([await of(), await of(), tries()]).toEqual(["copy", "copy", 1]);
  expect(told).toEqual([expect.stringMatching(/work on copies of it, because .*: mount: not allowed$/)]);
  expect(made.last).toEqual({ kind: "copy", problem: "mount: not allowed" });
  expect([forget(), await of(), tries()]).toEqual([true, "copy", 2]);
});

test("what the operator chose is never replaced: overlays are refused with why, and a copy mounts nothing", async () => {
  const { prefix, tries } = counting();
  await expect(kinds("overlay", prefix).of()).rejects.toMatchObject({
    code: "SANDBOX_UNAVAILABLE",
    message: expect.stringContaining("mount: not allowed"),
    suggestion: expect.stringContaining("sandbox.views"),
  });
  const before = tries();
  expect([await kinds("copy", prefix).of(), tries()]).toEqual(["copy", before]);
});

test("where an overlay can be mounted commands have one, and the record of a run says which view it was", async () => {
  const views = [];
  for (const kind of ["auto", "overlay", "copy"] as const) {
    const one = newSandboxPlace({ views: kind });
    const { end } = await one.run("echo 1 >f");
    views.push([end.enforced?.view, end.landed?.created, one.sandbox.diagnose().view?.kind]);
    one.close();
  }
  expect(views).toEqual([
    ["overlay", 1, "overlay"],
    ["overlay", 1, "overlay"],
    ["copy", 1, "copy"],
  ]);
});

/**
 * What `view-run` prints where the workspace lies on an overlay on an overlay, upon which no other can be mounted; as
 * this user, or as an ordinary one.
 */
function onStackedOverlays(choice: ViewChoice, command: string, isOrdinary: boolean) {
  const at = (name: string) => join(place.base, name);
  for (const name of ["checkout", "node", "l0", "u1", "w1", "m1", "u2", "w2", "views"]) mkdirSync(at(name));
  writeFileSync(at("l0/f"), "old\n");
  const user = isOrdinary ? 65534 : sandboxUser();
  for (const name of ["l0", "l0/f", "u1", "u2"]) chownSync(at(name), user, user);
  chownSync(at("views"), isOrdinary ? user : 0, 0);
  const overlay = (lower: string, number: number, merged: string) =>
    `mount -t overlay overlay -o lowerdir=${lower},upperdir=${at(`u${number}`)},workdir=${at(`w${number}`)} ${merged}`;
  const become = isOrdinary ? "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --" : "";
  const script = [
    `mount --bind ${CHECKOUT} ${at("checkout")}`,
    `mount --bind ${dirname(process.execPath)} ${at("node")}`,
    overlay(at("l0"), 1, at("m1")),
    overlay(at("m1"), 2, place.root),
    `cd ${at("checkout")}`,
    `${become} ${at("node")}/node test/support/children/view-run.ts ${place.root} ${at("views")} ${choice} '${command}'`,
    `cat ${place.root}/f`,
  ].join(" && ");
  const { stdout, stderr } = spawnSync("unshare", ["--mount", "--propagation", "private", "sh", "-c", script], {
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
    timeout: 120_000,
  });
  const [answer = "", ...rest] = stdout.split("\n");
  if (!answer.startsWith("{")) throw new Error(stdout + stderr);
  return { ...JSON.parse(answer), after: rest.join("\n") };
}

test.each([
  ["root", false],
  ["an ordinary user", true],
] as const)("on a workspace that takes no overlay %s has copies, which land", (_, isOrdinary) => {
  if (!isRoot) return; // nobody else can mount there
  const copied = onStackedOverlays("auto", "cat f; echo new >>f; echo 1 >n", isOrdinary);
  expect(copied).toMatchObject({ exitCode: 0, said: "old\n", view: "copy", after: "old\nnew\n" });
  expect([copied.landed, copied.told.length]).toEqual([{ created: 1, changed: 1, removed: 0, notKept: [] }, 1]);
});

test("there overlays alone are refused", () => {
  if (!isRoot) return; // nobody else can mount there
  const refused = onStackedOverlays("overlay", "echo new >>f", true);
  expect(refused).toMatchObject({ code: "SANDBOX_UNAVAILABLE", after: "old\n" });
});

/** Runs `view-run` on copies, kills it once `isTime`, and tells what lies where views do before and after a sweep. */
async function killed(command: string, isTime: (views: string) => boolean) {
  const views = join(place.base, "views");
  const child = startChild("view-run", [place.root, views, "copy", command]);
  const deadline = Date.now() + 100_000;
  while (!isTime(views) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 2));
  child.process.kill("SIGKILL");
  await child.ended;
  const left = readdirSync(views).length;
  const names = { next: () => "own", instanceOf: () => "dead", isAlive: async () => false };
  const directories = new ViewDirectories(views, names);
  directories.base();
  await directories.settled();
  return [left, readdirSync(views)];
}

test("copies of a killed kernel are removed by the next, whether it was copying or a command was running", async () => {
  for (let number = 0; number < 4000; number += 1) writeFileSync(join(place.root, `f${number}`), "x");
  for (const name of readdirSync(place.root)) lchownSync(join(place.root, name), sandboxUser(), sandboxUser());
  const merged = (views: string) => {
    try {
      return readdirSync(views).flatMap((name) => readdirSync(join(views, name, "merged")));
    } catch {
      return []; // it is not there yet
    }
  };
  expect(await killed("true", (views) => merged(views).length > 0)).toEqual([1, []]);
  const isRunning = (views: string) => merged(views).includes("running");
  expect(await killed("touch running; sleep 74.875", isRunning)).toEqual([1, []]);
  expect(readdirSync(place.root).length).toBe(4000);
});

test("a call that is cancelled while the workspace is copied runs nothing and leaves nothing", async () => {
  for (let number = 0; number < 4000; number += 1) writeFileSync(join(place.root, `f${number}`), "x");
  const views = join(place.base, "views");
  const one = newSandboxPlace({ views: "copy", viewsDirectory: views });
  const cancelling = new AbortController();
  const running = one.run("touch ran", { root: place.root, signal: cancelling.signal });
  const watching = setInterval(() => {
    const [name] = readdirSync(views);
    if (name !== undefined && readdirSync(join(views, name, "merged")).length > 0) cancelling.abort();
  }, 1);
  await expect(running).rejects.toMatchObject({ name: "AbortError" });
  clearInterval(watching);
  await one.sandbox.endRuns();
  expect([readdirSync(views), readdirSync(place.root).includes("ran")]).toEqual([[], false]);
  one.close();
});
