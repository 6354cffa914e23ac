// What a command does to its copy so that something lands that may not, or something else than its copy is moved or
// shown.
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changesIn } from "../../../../src/sandbox/landing/changes.ts";
import { atOnce, type ScopeJudge } from "../../../../src/sandbox/plan/workspace-mounts.ts";
import { copiedPlace } from "../../../support/copied-fixture.ts";
import { EVERYTHING, newSandboxPlace, own, type SandboxPlace } from "../../../support/sandbox-place.ts";

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace({ views: "copy" });
});
afterEach(() => place.close());

function make(path: string, text: string): void {
  writeFileSync(join(place.root, path), text);
  own(join(place.root, path));
}

const PROTECTING: ScopeJudge = { ...EVERYTHING, entry: (path) => (path.endsWith("CLAUDE.md") ? "read" : "write") };

test("a protected file that is planted in a copy is dropped, in whatever way it comes there", async () => {
  const ways =
    "echo evil >CLAUDE.md; mkdir d; echo evil >d/x; mv d/x d/CLAUDE.md; mkdir e; echo evil >e/CLAUDE.md; mv e f; ln f/CLAUDE.md plain";
  const { end } = await place.run(ways, { judge: PROTECTING });
  expect([end.enforced?.view, end.landed?.notKept.map(({ path, reason }) => `${reason} ${path}`)]).toEqual([
    "copy",
    ["not_allowed CLAUDE.md", "not_allowed d/CLAUDE.md", "not_allowed f/CLAUDE.md"],
  ]);
  expect(readdirSync(place.root, { recursive: true }).sort()).toEqual(["d", "f", "plain"]);
  // the control: without the rule it is there
  await place.run("echo evil >CLAUDE.md");
  expect(readFileSync(join(place.root, "CLAUDE.md"), "utf8")).toBe("evil\n");
});

test("a protected file that stands there cannot be written, replaced or moved about in the copy", async () => {
  make("CLAUDE.md", "mine");
  const ways = "echo evil >CLAUDE.md; rm -f CLAUDE.md; echo evil >x; mv -f x CLAUDE.md; mv CLAUDE.md y; cat CLAUDE.md";
  const { stdout, end } = await place.run(ways, { judge: PROTECTING });
  expect([stdout, end.landed?.notKept]).toEqual(["mine", []]);
  expect(readFileSync(join(place.root, "CLAUDE.md"), "utf8")).toBe("mine");
  await place.run("rm -f CLAUDE.md; echo evil >CLAUDE.md"); // the control: without the rule it is replaced
  expect(readFileSync(join(place.root, "CLAUDE.md"), "utf8")).toBe("evil\n");
});

test("a link that takes a directory's place is not followed when changes are found", async () => {
  mkdirSync(join(place.root, "d"));
  own(join(place.root, "d"));
  make("d/f", "1");
  writeFileSync(join(place.outside, "victim"), "untouched");
  const { end } = await place.run(`rm -r d; ln -s ${place.outside} d; echo 1 >n`);
  expect(end.landed?.notKept).toEqual([]);
  expect([readlinkSync(join(place.root, "d")), readdirSync(place.outside)]).toEqual([place.outside, ["victim"]]);
  expect(existsSync(join(place.root, "d/victim"))).toBe(true); // the control: whoever follows it comes there
});

test("secrets are not in the copy on disk while a command runs", async () => {
  make(".env", "TOKEN=SECRET-VALUE");
  mkdirSync(join(place.root, "secrets"));
  own(join(place.root, "secrets"));
  make("secrets/key", "SECRET-VALUE");
  const hiding: ScopeJudge = {
    ...EVERYTHING,
    entry: (path) => (path === ".env" || path.startsWith("secrets") ? "hidden" : "write"),
  };
  const lying = async (judge: ScopeJudge) => {
    let found = "";
    const onOutput = () => {
      found = execFileSync("sh", ["-c", 'grep -rl SECRET-VALUE "$0" | wc -l', join(place.base, "views")], {
        encoding: "utf8",
      }).trim();
    };
    const { stdout } = await place.run("cat .env secrets/key 2>/dev/null; ls -A secrets; echo up", { judge, onOutput });
    return [found, stdout];
  };
  expect(await lying(hiding)).toEqual(["0", "up\n"]);
  expect((await lying(EVERYTHING))[0]).toBe("2"); // the control
});

test("what marks a removal in an overlay is a device in a copy, and never lands", () => {
  const { merged, upper, copy, changes } = copiedPlace({ "d/f": "1", g: "2" });
  const copied = copy();
  const script = "mknod d/w c 0 0; mkdir new; mknod new/w c 0 0; rm g; mknod g c 0 0";
  execFileSync("sh", ["-c", script], { cwd: merged });
  const found = changes(copied);
  expect(["d/w", "new/w", "g"].map((path) => found[path]?.kind)).toEqual(["special", "special", "special"]);
  const asOverlay = atOnce(changesIn({ upper, pathBytesMax: 3000 }));
  expect(asOverlay.find(({ path }) => path === "g")?.kind).toBe("gone"); // the control
});

test("marks of an overlay that a command sets by itself mean nothing, and are gone from what lands", async () => {
  mkdirSync(join(place.root, "d"));
  own(join(place.root, "d"));
  make("d/kept", "1");
  const mark = (path: string, name: string) =>
    `python3 -c 'import os; os.setxattr("${path}", "user.overlay.${name}", b"y")'`;
  const command = `${mark("d", "opaque")}; echo 2 >d/n; mkdir new; ${mark("new", "opaque")}; echo 1 >new/f; ${mark("new/f", "whiteout")}; chmod 444 new/f`;
  const { end } = await place.run(command);
  expect([end.exitCode, end.landed?.notKept, readdirSync(join(place.root, "d")).sort()]).toEqual([
    0,
    [],
    ["kept", "n"],
  ]);
  const marks = ["d", "new", "new/f"].map((path) =>
    execFileSync("python3", ["-c", "import os, sys; print(os.listxattr(sys.argv[1]))", join(place.root, path)], {
      encoding: "utf8",
    }).trim(),
  );
  expect(marks).toEqual(["[]", "[]", "[]"]);
  expect(lstatSync(join(place.root, "new/f")).mode & 0o777).toBe(0o444);
});
