// What a running command sees of what file tools and other commands change meanwhile: by names that it looked up
// before, in polls and in watchers. Nothing of what was passed on lands as the command's own.
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PASSED_ON_MAX } from "../../../src/sandbox/mirror/running-views.ts";
import { PASSED_ON_BYTES_MAX } from "../../../src/sandbox/mirror/standing.ts";
import { awaiting, remove, runMeanwhile, save, told } from "../../support/meanwhile.ts";
import { EVERYTHING, newSandboxPlace, type SandboxPlace } from "../../support/sandbox-place.ts";

const NODE = dirname(dirname(process.execPath));
const LANDED_NOTHING = { created: 0, changed: 0, removed: 0, notKept: [] };

let place: SandboxPlace;
let root: string;
beforeEach(() => {
  place = newSandboxPlace({ toolchains: [NODE] });
  ({ root } = place);
});
afterEach(async () => {
  await place.sandbox.endRuns();
  place.close();
});

function make(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) save(root, path, text);
}

const text = (path: string) => readFileSync(join(root, path), "utf8");
const lines = (output: string) => output.split("\n").filter((line) => line !== "" && !line.startsWith("at "));

/** Says what stands under names that were all looked up before. */
const SHOW = 'for f in src/a src/b src/new src/deep/er/n; do echo "$f $(cat $f 2>/dev/null || echo -)"; done';

const SEEN_BEFORE = ["src/a old", "src/b old", "src/new -", "src/deep/er/n -"];

function changeAll(): readonly string[] {
  return [
    ...save(root, "src/a", "newer"),
    ...save(root, "src/new", "fresh"),
    ...save(root, "src/deep/er/n", "deep"),
    ...remove(root, "src/b"),
  ];
}

describe("names that the command looked up before", () => {
  beforeEach(() => make({ "src/a": "old", "src/b": "old" }));

  test("are current once a change was passed on, and nothing of it lands", async () => {
    const { stdout, end } = await runMeanwhile(place, `${SHOW}; ${awaiting("go")}; ${SHOW}; ls src | xargs`, {
      go: () => told(root, changeAll()),
    });
    const after = ["src/a newer", "src/b -", "src/new fresh", "src/deep/er/n deep", "a deep new"];
    expect(lines(stdout)).toEqual([...SEEN_BEFORE, ...after]);
    expect(end.landed).toEqual(LANDED_NOTHING);
    expect([text("src/a"), text("src/new"), existsSync(join(root, "src/b"))]).toEqual(["newer", "fresh", false]);
  });

  test("control: show what was, for as long as they are remembered, where nothing is passed on", async () => {
    const { stdout, end } = await runMeanwhile(place, `${SHOW}; ${awaiting("go")}; ${SHOW}`, { go: changeAll });
    expect(lines(stdout)).toEqual([...SEEN_BEFORE, ...SEEN_BEFORE]);
    expect(end.landed).toEqual(LANDED_NOTHING);
  });

  test("have rights and times of the file in the workspace", async () => {
    const show = "stat -c '%a %Y' src/a";
    const { stdout, end } = await runMeanwhile(place, `${show}; ${awaiting("go")}; ${show}`, {
      async go() {
        save(root, "src/a", "newer");
        chmodSync(join(root, "src/a"), 0o750);
        await told(root, ["src/a"]);
      },
    });
    expect(lines(stdout)[1]).toBe(`750 ${Math.floor(statSync(join(root, "src/a")).mtimeMs / 1000)}`);
    expect(end.landed).toEqual(LANDED_NOTHING);
  });

  test("are current when another command has landed", async () => {
    const { stdout, end } = await runMeanwhile(place, `${SHOW}; ${awaiting("go")}; ${SHOW}`, {
      async go() {
        const other = await place.run(
          "echo newer >src/a; echo fresh >src/new; mkdir -p src/deep/er; mv src/b src/deep/er/n",
        );
        expect(other.end.landed?.notKept).toEqual([]);
      },
    });
    const after = ["src/a newer", "src/b -", "src/new fresh", "src/deep/er/n old"];
    expect(lines(stdout)).toEqual([...SEEN_BEFORE, ...after]);
    expect(end.landed).toEqual(LANDED_NOTHING);
  });

  test("follow one change after the other", async () => {
    const show = "cat src/a 2>/dev/null || echo -";
    const command = [1, 2, 3, 4].flatMap((step) => [awaiting(`go${step}`), show]).join("; ");
    const { stdout, end } = await runMeanwhile(place, `${show}; ${command}`, {
      go1: () => told(root, save(root, "src/a", "one\n")),
      go2: () => told(root, remove(root, "src/a")),
      go3: () => told(root, save(root, "src/a", "a longer three\n")),
      go4: () => told(root, save(root, "src/a", "4\n")),
    });
    expect(lines(stdout.replace("old", ""))).toEqual(["one", "-", "a longer three", "4"]);
    expect(end.landed).toEqual(LANDED_NOTHING);
  });

  test("of a directory that goes are gone; it stays, empty, and nothing of it lands", async () => {
    const command = `cat src/a src/b; ${awaiting("go")}; cat src/a src/b 2>/dev/null || ls -A src; ${awaiting("again")}; cat src/a`;
    const { stdout, end } = await runMeanwhile(place, command, {
      go: () => told(root, [...remove(root, "src/a"), ...remove(root, "src/b"), ...remove(root, "src", true)]),
      again: () => told(root, save(root, "src/a", "again")),
    });
    expect(lines(stdout.replace("oldold", ""))).toEqual(["again"]);
    expect(end.landed).toEqual(LANDED_NOTHING);
    const gone = await runMeanwhile(place, `cat src/a; ${awaiting("gone")}; echo mine >src/own`, {
      gone: () => told(root, [...remove(root, "src/a"), ...remove(root, "src", true)]),
    });
    expect(gone.end.landed?.notKept).toEqual([{ path: "src/own", reason: "changed_meanwhile" }]);
    expect(existsSync(join(root, "src"))).toBe(false);
  });

  test("are not current where the change is too large", async () => {
    const many = Array.from({ length: PASSED_ON_MAX }, (_, index) => `src/${index}`);
    const { stdout } = await runMeanwhile(place, `${SHOW}; ${awaiting("go")}; ${SHOW}`, {
      async go() {
        await told(root, [...many, ...save(root, "src/a", "newer")]);
        await told(root, save(root, "src/b", "x".repeat(PASSED_ON_BYTES_MAX + 1)));
      },
    });
    expect(lines(stdout)).toEqual([...SEEN_BEFORE, ...SEEN_BEFORE]);
  });
});

/**
 * Listens in all ways that Node has, and says what it heard once that is all of `wanted`, or the time is over. Both
 * count from when `go` is there.
 */
const listen = (wanted: readonly string[], timeMs = 20_000) => `
const fs = require("node:fs");
const heard = new Set();
for (const name of fs.readdirSync("src")) fs.statSync("src/" + name); // one that nobody knew is not missed
fs.watch("src", (_, name) => heard.add("directory " + name));
fs.watch("src", { recursive: true }, (_, name) => heard.add("tree " + name));
fs.watch("src/a", () => heard.add("file"));
fs.watchFile("src/a", { interval: 20 }, () => heard.add("poll"));
fs.watchFile("src/a", { interval: 20 }, () => 0);
setTimeout(() => console.log("at go"), 300);
let beganAt;
const timer = setInterval(() => {
  if (!fs.readdirSync(".").includes("go")) return;
  beganAt ??= Date.now();
  if (!${JSON.stringify(wanted)}.every((each) => heard.has(each)) && Date.now() - beganAt < ${timeMs}) return;
  clearInterval(timer);
  console.log([...heard].sort().join(", "), fs.readFileSync("src/a", "utf8"));
  process.exit();
}, 20);`;

describe("a program that watches its sources", () => {
  beforeEach(() => make({ "src/a": "old", "src/b": "old" }));

  test("hears of an edit by watchers and by polls", async () => {
    const { stdout, end } = await place.run(
      ["node", "-e", listen(["directory a", "file", "poll", "tree a"])],
      listening(() => told(root, save(root, "src/a", "newer"))),
    );
    expect(lines(stdout)).toEqual(["directory a, file, poll, tree a newer"]);
    expect(end.landed).toEqual(LANDED_NOTHING);
  });

  test("control: hears nothing but that its old file has lost its name, where nothing is passed on", async () => {
    const { stdout } = await place.run(
      ["node", "-e", listen(["directory a"], 1000)],
      listening(() => save(root, "src/a", "newer")),
    );
    expect(lines(stdout)).toEqual(["poll old"]);
  });

  test("hears of a new file and of one that is gone", async () => {
    const change = () => told(root, [...save(root, "src/new", "n"), ...remove(root, "src/b")]);
    const wanted = ["directory b", "directory new", "tree b", "tree new"];
    const { stdout } = await place.run(["node", "-e", listen(wanted)], listening(change));
    expect(lines(stdout)[0]).toContain(wanted.join(", "));
  });
});

function listening(act: () => unknown) {
  let isDone = false;
  return {
    onOutput(piece: Uint8Array) {
      if (isDone || !Buffer.from(piece).toString().includes("at go")) return;
      isDone = true;
      void Promise.resolve(act()).finally(() => writeFileSync(join(root, "go"), ""));
    },
  };
}

describe("what the command wrote itself", () => {
  beforeEach(() => make({ "src/a": "old", "src/b": "old", "d/x": "old" }));

  test.each([
    ["before", `echo mine >src/a; ${awaiting("go")}; cat src/a`, "mine"],
    ["afterwards", `cat src/a >/dev/null; ${awaiting("go")}; echo mine >>src/a; cat src/a`, "newermine"],
    ["as the same bytes with other rights", `${awaiting("go")}; chmod 777 src/a; cat src/a; echo`, "newer"],
    ["away, before", `rm src/a; ${awaiting("go")}; cat src/a 2>/dev/null || echo -`, "-"],
    ["away, afterwards", `${awaiting("go")}; rm src/a; cat src/a 2>/dev/null || echo -`, "-"],
    ["as another file", `${awaiting("go")}; echo mine >t; mv t src/a; cat src/a`, "mine"],
  ])("%s is a conflict, and stays in its view", async (_, command, seen) => {
    const { stdout, end } = await runMeanwhile(place, command, { go: () => told(root, save(root, "src/a", "newer")) });
    expect(lines(stdout)).toEqual([seen]);
    expect(end.landed?.notKept).toEqual([{ path: "src/a", reason: "changed_meanwhile" }]);
    expect(text("src/a")).toBe("newer");
  });

  test("is left alone by what is passed on later", async () => {
    const command = `${awaiting("one")}; echo mine >src/a; ${awaiting("two")}; cat src/a`;
    const { stdout, end } = await runMeanwhile(place, command, {
      one: () => told(root, save(root, "src/a", "newer")),
      two: () => told(root, save(root, "src/a", "newest")),
    });
    expect(lines(stdout)).toEqual(["mine"]);
    expect(end.landed?.notKept).toEqual([{ path: "src/a", reason: "changed_meanwhile" }]);
    expect(text("src/a")).toBe("newest");
  });

  test("is kept apart from what was passed on beside it", async () => {
    const command = `echo mine >src/b; ${awaiting("go")}; echo own >src/own; cat src/a`;
    const { stdout, end } = await runMeanwhile(place, command, {
      go: () => told(root, save(root, "src/a", "newer\n")),
    });
    expect(lines(stdout)).toEqual(["newer"]);
    expect(end.landed).toEqual({ created: 1, changed: 1, removed: 0, notKept: [] });
    expect([text("src/a"), text("src/b"), text("src/own")]).toEqual(["newer\n", "mine\n", "own\n"]);
  });

  test("in a directory that it made anew is not mixed with the workspace's", async () => {
    const command = `rm -r d; mkdir d; echo mine >d/own; ${awaiting("go")}; ls d`;
    const { stdout, end } = await runMeanwhile(place, command, { go: () => told(root, save(root, "d/x", "newer")) });
    expect(lines(stdout)).toEqual(["own"]);
    expect(end.landed?.notKept).toEqual([{ path: "d/x", reason: "changed_meanwhile" }]);
    expect([text("d/x"), text("d/own")]).toEqual(["newer", "mine\n"]);
  });

  test("over an old file that it had remembered does not land", async () => {
    const { end } = await runMeanwhile(place, `cat src/a; ${awaiting("go")}; echo mine >>src/a; cat src/a`, {
      go: () => save(root, "src/a", "newer"),
    });
    expect(end.landed?.notKept).toEqual([{ path: "src/a", reason: "changed_meanwhile" }]);
    expect(text("src/a")).toBe("newer");
  });
});

describe("what was passed on and is not so any more", () => {
  beforeEach(() => make({ "src/a": "old", "src/b": "old" }));

  test("lands nothing over what a person wrote later", async () => {
    const { end } = await runMeanwhile(place, `cat src/a; ${awaiting("go")}; cat src/a`, {
      async go() {
        await told(root, save(root, "src/a", "newer"));
        save(root, "src/a", "a person's");
      },
    });
    expect(end.landed).toEqual(LANDED_NOTHING);
    expect(text("src/a")).toBe("a person's");
  });

  test("does not come back, nor what lay in a directory of it", async () => {
    const { end } = await runMeanwhile(place, `cat src/new n/m/f; ${awaiting("go")}; cat src/new n/m/f; true`, {
      async go() {
        await told(root, [...save(root, "src/new", "new"), ...save(root, "n/m/f", "new")]);
        rmSync(join(root, "src/new"));
        rmSync(join(root, "n"), { recursive: true });
      },
    });
    expect(end.landed).toEqual(LANDED_NOTHING);
    expect([existsSync(join(root, "src/new")), existsSync(join(root, "n"))]).toEqual([false, false]);
  });

  test("does not go again when somebody has made it anew", async () => {
    const { end } = await runMeanwhile(place, `cat src/a; ${awaiting("go")}; cat src/a; true`, {
      async go() {
        await told(root, remove(root, "src/a"));
        save(root, "src/a", "again");
      },
    });
    expect(end.landed).toEqual(LANDED_NOTHING);
    expect(text("src/a")).toBe("again");
  });

  test("does not come back with a directory that the command made", async () => {
    const { end } = await runMeanwhile(place, `mkdir out; echo 1 >out/own; ${awaiting("go")}; ls out`, {
      async go() {
        await told(root, save(root, "out/theirs", "theirs"));
        rmSync(join(root, "out"), { recursive: true });
      },
    });
    expect([existsSync(join(root, "out/theirs")), end.landed?.notKept]).toEqual([false, []]);
    expect(text("out/own")).toBe("1\n");
  });
});

test("what a command may not see is not passed on to it", async () => {
  make({ "secrets/known": "hidden", "src/a": "old" });
  const isHidden = (path: string) => path.startsWith("secrets") || path.endsWith(".env");
  const judge = { ...EVERYTHING, entry: (path: string) => (isHidden(path) ? ("hidden" as const) : ("write" as const)) };
  const show =
    'for f in src/.env src/seen secrets/known; do echo "$f $(cat $f 2>/dev/null || echo -)"; done; ls -A src | xargs';
  const { stdout, end } = await runMeanwhile(
    place,
    `${show}; ${awaiting("go")}; cat src/.env src/seen; ls -A secrets`,
    {
      go: () =>
        told(root, [
          ...save(root, "src/.env", "SECRET"),
          ...save(root, "src/seen", "seen"),
          ...save(root, "secrets/known", "SECRET"),
        ]),
    },
    { judge },
  );
  expect(lines(stdout)).toEqual(["src/.env -", "src/seen -", "secrets/known -", "a", "seen"]);
  expect(end.landed).toEqual(LANDED_NOTHING);
});

test("what a command may only read is passed on, and stays so", async () => {
  make({ "src/a": "old", "CLAUDE.md": "old" });
  const reach = (path: string) => (path.startsWith("src") ? ("read" as const) : ("write" as const));
  const judge = { ...EVERYTHING, entry: reach, below: reach };
  const { stdout, end } = await runMeanwhile(
    place,
    `cat src/a; echo; ${awaiting("go")}; cat src/a; echo; echo x >src/a || echo refused`,
    { go: () => told(root, save(root, "src/a", "newer")) },
    { judge },
  );
  expect(lines(stdout)).toEqual(["old", "newer", "refused"]);
  expect(end.landed).toEqual(LANDED_NOTHING);
});
