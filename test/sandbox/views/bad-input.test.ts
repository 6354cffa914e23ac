// What commands do to files that a view could take for something else, or could not hold, each by a real command.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newSandboxPlace, own, type SandboxPlace } from "../../support/sandbox-place.ts";

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(() => place.close());

function make(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(place.root, path, ".."), { recursive: true });
    writeFileSync(join(place.root, path), text);
  }
  for (const path of execFileSync("find", [place.root, "-print0"], { encoding: "utf8" }).split("\0").filter(Boolean))
    own(path);
}

const text = (path: string) => readFileSync(join(place.root, path), "utf8");
/** What did not land, as reason and path. */
const notKept = ({ end }: Awaited<ReturnType<SandboxPlace["run"]>>) =>
  end.landed?.notKept.map(({ path, reason }) => `${reason} ${path}`).sort();

test("programs that move a directory that was there before succeed, by copying where they must", async () => {
  make({ "d/e/f": "1", "d/g": "2", "p/q": "3" });
  const ran = await place.run(
    'mv d moved && python3 -c \'import shutil; shutil.move("p", "r")\' && mkdir new && echo 4 >new/n && perl -e \'rename "new", "newer" or die $!\'',
  );
  expect([ran.stderr, ran.end.exitCode, notKept(ran)]).toEqual(["", 0, []]);
  expect(readdirSync(place.root, { recursive: true }).sort()).toEqual(
    ["moved", "moved/e", "moved/e/f", "moved/g", "newer", "newer/n", "r", "r/q"].sort(),
  );
});

test("of two names of one file the one that is written lands, and the other keeps what it was", async () => {
  make({ one: "old\n" });
  linkSync(join(place.root, "one"), join(place.root, "two"));
  const ran = await place.run("echo new >>one; cat one two");
  expect([ran.stdout, notKept(ran), text("one"), text("two")]).toEqual(["old\nnew\nold\n", [], "old\nnew\n", "old\n"]);
});

test("FIFOs and sockets do not land, and devices cannot be made", async () => {
  const ran = await place.run(
    "mkfifo p; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'; mknod c c 1 3 2>/dev/null; mknod w c 0 0 2>/dev/null; mknod b b 8 0 2>/dev/null; echo 1 >fine; ls",
  );
  expect([ran.stdout, notKept(ran), readdirSync(place.root)]).toEqual([
    "fine\np\ns\n",
    ["not_a_file p", "not_a_file s"],
    ["fine"],
  ]);
});

test("marks of an overlay that a command sets by itself hide and remove nothing", async () => {
  make({ "d/kept": "1", gone: "2" });
  const mark = (path: string, name: string, value = "y") =>
    `python3 -c 'import os; os.setxattr("${path}", "user.overlay.${name}", b"${value}")'`;
  const ran = await place.run(
    [
      `${mark("d", "opaque")}; echo 2 >d/n; ${mark("d", "redirect", "/etc")}`,
      `mkdir x; ${mark("x", "opaque", "x")}; : >x/gone; ${mark("x/gone", "whiteout")}; : >gone; ${mark("gone", "whiteout")}`,
    ].join("; "),
  );
  expect([ran.stderr, notKept(ran)]).toEqual(["", []]);
  const later = await place.run("ls -A d x; cat gone; rm d/kept; ls d");
  expect([later.stdout, notKept(later), text("d/n")]).toEqual(["d:\nkept\nn\n\nx:\ngone\nn\n", [], "2\n"]);
});

test("attributes come with a new file and stay on one that is written; to set one alone is no change", async () => {
  make({ old: "1", written: "2" });
  const set = (path: string) => `os.setxattr("${path}", "user.note", b"${path}")`;
  const python = (text: string) => `python3 -c 'import os; ${text}'`;
  execFileSync("sh", ["-c", python(set("written"))], { cwd: place.root });
  const ran = await place.run(`${python(set("old"))}; echo 3 >new; ${python(set("new"))}; echo 4 >>written`);
  const noted = execFileSync("sh", ["-c", python("print(sorted(f for f in os.listdir() if os.listxattr(f)))")], {
    cwd: place.root,
    encoding: "utf8",
  });
  expect([ran.stderr, notKept(ran), noted]).toEqual(["", [], "['new', 'written']\n"]);
  expect(ran.end.landed).toMatchObject({ created: 1, changed: 1 });
});

test("a path of twelve thousand characters lands not, and keeps neither its own command nor the next one out", async () => {
  const ran = await place.run(
    "(for i in $(seq 60); do d=$(printf '%0200d' 0); mkdir $d && cd $d || exit; done; echo 1 >f; pwd | wc -c); echo fine >fine",
  );
  expect(Number(ran.stdout)).toBeGreaterThan(12_000);
  expect(notKept(ran)?.map((line) => line.slice(0, 20))).toEqual([`unusable_name ${"0".repeat(6)}`]);
  expect([text("fine"), (await place.run("cat fine")).stdout]).toEqual(["fine\n", "fine\n"]);
});

test("of 1,500 look-alike repositories none lands, and the next command runs", async () => {
  const made = 'os.makedirs(f"r{i}/{n}"); open(f"r{i}/{n}/x", "w").close()';
  const ran = await place.run(
    `python3 -c 'import os\nfor i in range(1500):\n  for n in ("objects", "refs"): ${made}\n  open(f"r{i}/HEAD", "w").write("ref: refs/heads/main")'; echo 1 >fine`,
  );
  const shaped = readdirSync(place.root).filter((name) =>
    ["objects", "refs"].every((part) => existsSync(join(place.root, name, part))),
  );
  expect([ran.stderr, shaped, text("fine")]).toEqual(["", [], "1\n"]);
  expect(ran.end.landed?.notKept.length).toBeGreaterThanOrEqual(1500);
  expect((await place.run("cat fine")).stdout).toBe("1\n");
});

test("what a daemon writes after its command has ended does not land, and its view is gone", async () => {
  const views = join(place.base, "other-views");
  const other = newSandboxPlace({ viewsDirectory: views });
  const ran = await other.run(
    "(setsid sh -c 'exec >/dev/null 2>&1; while :; do echo x >>kept; done' &); until [ -s kept ]; do :; done; echo done",
  );
  const size = lstatSync(join(other.root, "kept")).size;
  await other.sandbox.endRuns();
  expect([ran.stdout, size > 0, readdirSync(views)]).toEqual(["done\n", true, []]);
  expect(lstatSync(join(other.root, "kept")).size).toBe(size);
  other.close();
});

test("a directory that somebody swaps for a link before the landing leads nothing out", async () => {
  make({ "d/f": "old", "e/g": "old" });
  const ran = await place.run("echo evil >d/f; echo evil >d/n; rm e/g; echo 1 >fine", {
    landing: {
      before: async () => {
        execFileSync("sh", ["-c", "mv d was; mv e was-too"], { cwd: place.root });
        for (const name of ["f", "g"]) writeFileSync(join(place.outside, name), "outside");
        for (const name of ["d", "e"]) symlinkSync(place.outside, join(place.root, name));
      },
    },
  });
  expect(readdirSync(place.outside).map((name) => readFileSync(join(place.outside, name), "utf8"))).toEqual([
    "outside",
    "outside",
  ]);
  expect([text("was/f"), text("was-too/g"), text("fine")]).toEqual(["old", "old", "1\n"]);
  expect(notKept(ran)).toEqual(["changed_meanwhile d", "changed_meanwhile e"]);
});

test("of two commands that make one name, and one that renames what was there, none loses anything", async () => {
  make({ same: "old\n" });
  const ends: string[] = [];
  const { promise: allHaveRun, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  const onOutput = () => {
    begun += 1;
    if (begun === 3) resolve();
  };
  const all = await Promise.all(
    ["echo one >same; echo up", "echo two >same; echo up", "mv same away; echo up"].map(async (command) => {
      const ran = await place.run(command, { onOutput, landing: { before: () => allHaveRun } });
      ends.push(command);
      return notKept(ran) ?? [];
    }),
  );
  const losers = all.filter((rows) => rows.length > 0);
  expect(losers.length).toBe(2);
  const won = all.findIndex((rows) => rows.length === 0);
  expect(won === 2 ? text("away") : text("same")).toBe(["one\n", "two\n", "old\n"][won]);
});
