// What a command sees in a selection of the kernel's own making, while somebody else writes to the workspace; and which
// directories are made for it.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../../src/model/place/zone.ts";
import type { ExecSelection } from "../../../src/model/work/exec.ts";
import { openWorkspaceRoots } from "../../../src/sandbox/files/files.ts";
import { type FilledDirectories, makeFilledDirectories } from "../../../src/sandbox/files/places/filled-directories.ts";
import { unnotedNames } from "../../support/files-fixture.ts";
import { newSandboxPlace, own, type SandboxPlace, sandboxUser } from "../../support/sandbox-place.ts";

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
  for (const directory of ["node_modules", "src"]) {
    mkdirSync(join(place.root, directory));
    own(join(place.root, directory));
  }
  writeFileSync(join(place.root, "package.json"), "theirs");
});
afterEach(() => place.close());

const CLOSED: ExecSelection = {
  rest: "nothing",
  files: [{ path: "package.json", text: "judged\n" }],
  directories: [{ path: "node_modules" }],
};

test("nothing of the workspace appears in a closed selection, also when it is made while the command runs", async () => {
  const command =
    "echo begun; until ls node_modules | grep -q go; do sleep 0.01; done; find . /run/workspace | sort; cat package.json";
  const meanwhile = () => {
    writeFileSync(join(place.root, ".npmrc"), "git=/workspace/evil.sh\n");
    writeFileSync(join(place.root, "package.json"), "theirs again");
    writeFileSync(join(place.root, "node_modules/go"), "");
  };
  const seen = await place.run(command, {
    selection: CLOSED,
    onOutput: (piece) => String(piece) === "begun\n" && meanwhile(),
  });
  expect(seen.stdout).toBe("begun\n.\n./node_modules\n./node_modules/go\n./package.json\n/run/workspace\njudged\n");
  // The control: by its scope a command sees what others make.
  const { stdout } = await place.run("cat .npmrc package.json");
  expect(stdout).toBe("git=/workspace/evil.sh\ntheirs again");
});

test("what a command writes in a closed selection beside its directories is gone, and nothing of the workspace is reached", async () => {
  const command =
    "echo x >new; echo x >node_modules/made; echo x >package.json; mkdir src; umount /run/workspace; cat /run/workspace/package.json; true";
  const { stdout, stderr } = await place.run(command, { selection: CLOSED });
  expect([stdout, stderr.match(/Read-only file system|Permission denied/g)?.length]).toEqual(["", expect.any(Number)]);
  expect([existsSync(join(place.root, "new")), readdirSync(join(place.root, "node_modules"))]).toEqual([
    false,
    ["made"],
  ]);
  expect(readFileSync(join(place.root, "package.json"), "utf8")).toBe("theirs");
});

test("a selection of the rest lets everything be read and one directory be filled, under a name of its own", async () => {
  const selection: ExecSelection = {
    rest: "read_only",
    files: [{ path: "package.json", text: "judged\n" }],
    directories: [{ path: "src", at: "/tmp/filled" }],
  };
  const command =
    "touch /tmp/filled/x; touch /workspace/x /workspace/src/y 2>/dev/null; cat /workspace/package.json; ls";
  expect((await place.run(command, { selection })).stdout).toBe("judged\nnode_modules\npackage.json\nsrc\n");
  expect([readdirSync(join(place.root, "src")), existsSync(join(place.root, "x"))]).toEqual([["x"], false]);
});

test("a directory that is a link is not mounted, wherever it leads", async () => {
  symlinkSync("src", join(place.root, "linked"));
  const selection: ExecSelection = { rest: "nothing", files: [], directories: [{ path: "linked" }] };
  await expect(place.run("touch linked/x", { selection })).rejects.toMatchObject({ code: "RESOURCE_BUSY" });
  expect(readdirSync(join(place.root, "src"))).toEqual([]);
});

function placeOfWorkspace() {
  const zones = compileZones(BUILT_IN_ZONE_RULES, "");
  return { serviceRoot: place.root, projectRoot: place.root, sharedPaths: [], zones };
}

function make(path: string, isNew = false): FilledDirectories {
  const roots = openWorkspaceRoots(placeOfWorkspace());
  onTestFinished(() => roots.close());
  const filled = makeFilledDirectories(roots, [{ path, isNew }], unnotedNames);
  onTestFinished(filled.release);
  return filled;
}

test("directories are made for whom the workspace belongs to, never through a link, and new ones hold nothing", () => {
  make("target/cargo-home/registry");
  make("target/cargo-home/registry");
  expect(statSync(join(place.root, "target/cargo-home/registry")).uid).toBe(sandboxUser());
  symlinkSync(place.outside, join(place.root, "out"));
  symlinkSync("src", join(place.root, "in"));
  for (const path of ["out/x", "in/x", "in", "package.json", "package.json/x"])
    expect(() => make(path), path).toThrow();
  expect(readdirSync(place.outside)).toEqual([]);
  make(".venv", true);
  make(".venv", true);
  writeFileSync(join(place.root, ".venv/python"), "");
  expect(() => make(".venv", true)).toThrow("`.venv` is there already");
});

test("of the directories that were made only those that are still there and empty go, once no call fills them", () => {
  const there = (path: string) => existsSync(join(place.root, path));
  mkdirSync(join(place.root, "target"));
  const empty = make("target/a/b");
  expect(empty.made).toEqual(["target/a", "target/a/b"]);
  const other = make("target/a/b");
  empty.release();
  expect([other.made, there("target/a/b")]).toEqual([[], true]); // the other call still fills it
  other.release();
  expect(["target", "target/a"].map(there)).toEqual([true, false]);

  make("node_modules").release(); // was there before, and empty
  const filled = make("filled/a");
  writeFileSync(join(place.root, "filled/a/x"), "");
  const replaced = make("replaced");
  renameSync(join(place.root, "replaced"), join(place.root, "moved"));
  mkdirSync(join(place.root, "replaced"));
  const linked = make("linked/a");
  renameSync(join(place.root, "linked"), join(place.root, "was-linked"));
  mkdirSync(join(place.outside, "a"));
  symlinkSync(place.outside, join(place.root, "linked"));
  for (const one of [filled, replaced, linked]) one.release();
  expect(["node_modules", "filled/a/x", "replaced", "moved", "was-linked/a"].map(there)).not.toContain(false);
  expect(readdirSync(place.outside)).toEqual(["a"]);
});

test("directories that were made before one could not be are gone with the refusal", () => {
  const roots = openWorkspaceRoots(placeOfWorkspace());
  onTestFinished(() => roots.close());
  const directories = [{ path: "one/a" }, { path: "package.json/x" }];
  expect(() => makeFilledDirectories(roots, directories, unnotedNames)).toThrow();
  const unnoted = {
    noteMade() {
      throw new Error("the disk is full");
    },
  };
  expect(() => makeFilledDirectories(roots, [{ path: "two" }], unnoted)).toThrow("the disk is full");
  expect(["one", "two"].filter((name) => existsSync(join(place.root, name)))).toEqual([]);
});
