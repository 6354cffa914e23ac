// What a kernel leaves that is killed while it writes a file: the next one removes it, git never sees it, and the
// doctor names what is left.
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { newId, systemRandom } from "../../../../src/base/ids.ts";
import type { JsonObject } from "../../../../src/base/json.ts";
import { createKernel, type KernelSession } from "../../../../src/index.ts";
import { newFiles } from "../../../../src/sandbox/files/new-files.ts";
import { temporaryName } from "../../../../src/sandbox/files/places/temporary.ts";
import { workspaceFinding } from "../../../../src/server/doctor/doctor-workspace.ts";
import { evidenceKey } from "../../../../src/server/ledger/evidence-key.ts";
import { openNewFileStore } from "../../../../src/stores/embedded/new-file-store.ts";
import { startChild } from "../../../support/children/run.ts";
import { newRepository, type PlainGit } from "../../../support/git-place.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { freshDirectory } from "../../../support/store-place.ts";

const PREFIX = ".handrail-new-";

interface Writing {
  readonly place: Place;
  readonly git: PlainGit;
  readonly directory: string;
  readonly left: () => readonly string[];
}

function beginning(): Writing {
  const place = freshPlace();
  const git = newRepository(place.workspace);
  const directory = join(place.workspace, "deep", "inside");
  mkdirSync(directory, { recursive: true });
  git.commit("first", { "deep/inside/file-0.txt": "text\n" });
  git.git("checkout", "--quiet", "-b", "work");
  return { place, git, directory, left: () => readdirSync(directory).filter((name) => name.startsWith(PREFIX)) };
}

/** Kills a kernel while a file of its is in the making. */
async function killedWhileWriting({ place, left }: Writing): Promise<void> {
  const before = left().length;
  const child = startChild("files-left", [place.state, place.config, place.workspace]);
  await child.printed("ready");
  while (left().length === before) {
    await nextTurn();
    if (left().length === before) continue;
    child.process.kill("SIGSTOP");
    await until(() => standsStill(child.process.pid)); // what a thread does for the moment it does to its end
    if (left().length === before) child.process.kill("SIGCONT");
  }
  child.process.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
  expect(left()).toHaveLength(before + 1);
}

/** Whether every thread of a process that was stopped has stopped; one that ended while it was looked at has not. */
function standsStill(id: number | undefined): boolean {
  const tasks = readdirSync(`/proc/${id}/task`);
  return tasks.every((task) => {
    try {
      return /^State:\s+T/m.test(readFileSync(`/proc/${id}/task/${task}/status`, "latin1"));
    } catch {
      return false;
    }
  });
}

async function opened({ place }: Writing) {
  const kernel = await createKernel({ stateDirectory: place.state, configDirectory: place.config, environment: {} });
  return { kernel, session: await kernel.openSession({ workspace: place.workspace }) };
}

async function ask(session: KernelSession, tool: string, args: JsonObject): Promise<string> {
  return JSON.stringify((await session.call(tool, args)).result);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(10);
}

test("what killed kernels left is gone once the next one has started, and plain git would have taken it", async () => {
  const writing = beginning();
  await killedWhileWriting(writing);
  const [first = ""] = writing.left();
  expect(writing.git.git("status", "--porcelain", "-uall")).toContain(first); // the control
  const next = await opened(writing);
  await until(() => writing.left().length === 0);
  await next.kernel.close();
  await killedWhileWriting(writing);
  const after = await opened(writing);
  await until(() => writing.left().length === 0);
  expect(await ask(after.session, "git", { operation: "ADD", args: ["--all"] })).not.toContain(PREFIX);
  expect(writing.git.git("status", "--porcelain", "-uall")).not.toContain(PREFIX);
  await after.kernel.close();
});

test("what others have in the making stays, and the kernel's own git, listings and searches leave it out", async () => {
  const writing = beginning();
  const living = await opened(writing);
  const key = await evidenceKey(writing.place.state, systemRandom);
  const elsewhere = temporaryName({ instanceId: newId("ins", systemRandom), key: systemRandom(32) }, systemRandom);
  const ofLiving = temporaryName({ instanceId: living.kernel.instanceId, key }, systemRandom);
  const earlier = `${PREFIX}AAAAAAAAAAAAAAAAAAAAAA`;
  const names = [elsewhere, ofLiving, earlier];
  for (const name of names) writeFileSync(join(writing.directory, name), "needle\n");
  writeFileSync(join(writing.directory, "plain.txt"), "needle\n");
  expect(await ask(living.session, "write_file", { path: "deep/inside/file-0.txt", content: "more\n" })).toContain(
    "success",
  );

  const other = await opened(writing);
  expect(
    (
      await workspaceFinding(
        { environment: {}, stateDirectory: writing.place.state },
        { path: writing.place.workspace, mend: true },
      )
    ).status,
  ).toBe("advisory");
  expect(writing.left().toSorted()).toEqual(names.toSorted());
  const answers: string[] = [];
  for (const [tool, args] of [
    ["git", { operation: "STATUS" }],
    ["git", { operation: "ADD", args: ["--all"] }],
    ["list_files", { path: "deep/inside" }],
    ["search_file", { path: ".", regex: "needle" }],
    ["git", { operation: "COMMIT", args: ["-m", "more of it"] }],
  ] as const) {
    answers.push(await ask(other.session, tool, args));
  }
  expect(answers.filter((answer) => answer.includes(PREFIX))).toEqual([]);
  expect(writing.git.git("show", "--name-only", "--format=", "HEAD").trim().split("\n")).toEqual([
    "deep/inside/file-0.txt",
    "deep/inside/plain.txt",
  ]);

  // Staged by a person's mistake, it is not committed.
  writing.git.git("add", "--force", `deep/inside/${earlier}`);
  const refused = await ask(other.session, "git", { operation: "COMMIT", args: ["-m", "by mistake"] });
  expect(refused).toContain("PERMISSION_DENIED");
  for (const { kernel } of [living, other]) await kernel.close();
});

test("the sweep follows no link, enters no directory that took another's place, and removes nothing but files and directories of that name", async () => {
  const state = await freshDirectory();
  const place = freshPlace();
  const key = await evidenceKey(state, systemRandom);
  const instanceId = newId("ins", systemRandom);
  const name = () => temporaryName({ instanceId, key }, systemRandom);
  const store = await openNewFileStore(state, instanceId);
  const noted = (path: string) => {
    mkdirSync(path, { recursive: true });
    const directory = openSync(path, constants.O_RDONLY);
    newFiles(store, { instanceId, key }, systemRandom).nameIn(directory);
    closeSync(directory);
  };
  const at = (path: string) => join(place.workspace, path);
  for (const directory of ["swapped", "linked", "kept"]) noted(at(directory));
  await store.close();
  renameSync(at("swapped"), at("moved"));
  renameSync(at("linked"), at("was-linked"));
  mkdirSync(at("swapped"));
  symlinkSync(place.outside, at("linked"));
  const [swapped, linked, link] = [name(), name(), name()];
  writeFileSync(at(`swapped/${swapped}`), "");
  writeFileSync(join(place.outside, linked), "");
  mkdirSync(at(`kept/${name()}/in`), { recursive: true }); // goes with what is in it
  symlinkSync("../x", at(`kept/${link}`));
  writeFileSync(at(`kept/${name()}`), ""); // the one that goes
  writeFileSync(at("kept/.handrail-new-notes"), "");

  const kernel = await createKernel({ stateDirectory: state, configDirectory: place.config, environment: {} });
  const isDone = () => !readdirSync(join(state, "new-files")).includes(instanceId);
  await until(isDone);
  await kernel.close();
  expect(readdirSync(at("kept")).toSorted()).toEqual([link, ".handrail-new-notes"].toSorted());
  expect([readdirSync(at("swapped")), readdirSync(place.outside)]).toEqual([[swapped], [linked]]);
});

test("directories that a killed kernel made to be filled go where they are the same and empty", async () => {
  const state = await freshDirectory();
  const place = freshPlace();
  const at = (path: string) => join(place.workspace, path);
  const instanceId = newId("ins", systemRandom);
  const store = await openNewFileStore(state, instanceId);
  const names = newFiles(store, { instanceId, key: systemRandom(32) }, systemRandom);
  const made = (path: string) => {
    mkdirSync(at(path));
    const directory = openSync(at(path), constants.O_RDONLY);
    names.noteMade(directory);
    closeSync(directory);
  };
  for (const path of ["a", "a/node_modules", "filled", "swapped", "linked"]) made(path);
  await store.close();
  writeFileSync(at("filled/x"), "");
  mkdirSync(at("others")); // nobody noted it
  renameSync(at("swapped"), at("moved"));
  mkdirSync(at("swapped"));
  renameSync(at("linked"), at("was-linked"));
  symlinkSync(at("was-linked"), at("linked"));
  const kernel = await createKernel({ stateDirectory: state, configDirectory: place.config, environment: {} });
  await until(() => !readdirSync(join(state, "new-files")).includes(instanceId));
  await kernel.close();
  expect(readdirSync(place.workspace).toSorted()).toEqual(
    ["filled", "linked", "moved", "others", "swapped", "was-linked"].toSorted(),
  );
});

test("the doctor names what is left where no kernel looks any more, and removes it when asked", async () => {
  const state = await freshDirectory();
  const place = freshPlace();
  const dead = { instanceId: newId("ins", systemRandom), key: await evidenceKey(state, systemRandom) };
  const name = temporaryName(dead, systemRandom);
  place.put(`workspace/deep/${name}`, "");
  place.put(`workspace/node_modules/${name}`, "");
  const look = (mend: boolean) =>
    workspaceFinding({ environment: {}, stateDirectory: state }, { path: place.workspace, mend });
  expect(await look(false)).toMatchObject({ status: "advisory", detail: expect.stringContaining(`deep/${name}`) });
  expect(readdirSync(join(place.workspace, "deep"))).toEqual([name]);
  expect(await look(true)).toMatchObject({
    status: "ok",
    detail: expect.stringContaining("1 that killed kernels left were removed"),
  });
  expect(readdirSync(join(place.workspace, "deep"))).toEqual([]);
  expect(await look(false)).toMatchObject({ status: "ok" });
  expect(
    await workspaceFinding({ environment: {}, stateDirectory: state }, { path: join(place.base, "none"), mend: false }),
  ).toMatchObject({
    status: "failed",
  });
});

test("many directories: what was not used for longest is forgotten, the rest stays", async () => {
  const state = await freshDirectory();
  const instanceId = newId("ins", systemRandom);
  const store = await openNewFileStore(state, instanceId);
  const { NEW_FILE_PLACES_MAX } = await import("../../../../src/stores/embedded/new-file-store.ts");
  for (let index = 0; index <= NEW_FILE_PLACES_MAX; index += 1) {
    store.note({ path: "/first", dev: "1", ino: "1" });
    store.note({ path: `/${index}`, dev: "1", ino: "2" });
  }
  const places = await store.placesOf(instanceId);
  expect(places.length).toBeLessThan(NEW_FILE_PLACES_MAX);
  expect(places.map(({ path }) => path)).toEqual(expect.arrayContaining(["/first", `/${NEW_FILE_PLACES_MAX}`]));
  await store.forget(instanceId);
  expect(await store.instances()).toEqual([]);
  await store.close();
});
