// What a command plants in its view where a change is passed on leads the kernel nowhere: no link is followed, nothing
// that is no file is written, nobody is waited for, and nothing of it lands as somebody's but the command's.
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ViewMirror } from "../../../../src/sandbox/mirror/view-mirror.ts";
import { O_PATH } from "../../../../src/sandbox/native/syscalls.ts";
import { holdLeases } from "../../../support/leaseholder.ts";
import { awaiting, runMeanwhile, save, told } from "../../../support/meanwhile.ts";
import { newSandboxPlace, type SandboxPlace } from "../../../support/sandbox-place.ts";

/** The holder of a lease may take 45 s. */
const AT_ONCE_MS = 20_000;

describe("planted by a running command", () => {
  let place: SandboxPlace;
  let root: string;
  beforeEach(() => {
    place = newSandboxPlace();
    ({ root } = place);
    save(root, "src/a", "old\n");
    save(root, "other/a", "other\n");
    save(place.outside, "a", "outside\n");
  });
  afterEach(async () => {
    await place.sandbox.endRuns();
    place.close();
  });

  async function passedOn(plant: string, after = "true") {
    let tookMs = 0;
    const { stdout, end } = await runMeanwhile(place, `${plant}; ${awaiting("go")}; ${after}`, {
      async go() {
        const paths = save(root, "src/a", "newer\n");
        const startedMs = performance.now();
        await told(root, paths);
        tookMs = performance.now() - startedMs;
      },
    });
    expect(tookMs).toBeLessThan(AT_ONCE_MS);
    const texts = ["src/a", "other/a"].map((path) => readFileSync(join(root, path), "utf8"));
    expect([...texts, readFileSync(join(place.outside, "a"), "utf8")]).toEqual(["newer\n", "other\n", "outside\n"]);
    expect(end.exitCode).toBe(0);
    return { seen: stdout.split("\n").filter((line) => line !== "" && line !== "at go"), landed: end.landed };
  }

  test.each([
    ["a link to another file", "ln -sfn ../other/a src/a", "readlink src/a; cat other/a", ["../other/a", "other"]],
    ["a link out of the view", "ln -sfn /etc/hostname src/a", "readlink src/a", ["/etc/hostname"]],
    ["a directory", "rm src/a; mkdir src/a", "ls -d src/a", ["src/a"]],
    ["a second name of another file", "ln -f other/a src/a", "cat src/a other/a", ["other", "other"]],
  ])("%s is its own, and a conflict", async (_, plant, after, seen) => {
    const found = await passedOn(plant, after);
    expect(found.seen).toEqual(seen);
    expect(found.landed?.notKept.map(({ path }) => path)).toContain("src/a");
    expect([found.landed?.changed, found.landed?.removed]).toEqual([0, 0]);
  });

  test("a link in place of the directory is not gone through", async () => {
    const { seen, landed } = await passedOn("mv src moved; ln -s other src", "cat other/a src/a");
    expect(seen).toEqual(["other", "other"]);
    expect(landed?.notKept.map(({ path }) => path)).toContain("src");
    expect(lstatSync(join(root, "src")).isDirectory()).toBe(true);
  });

  test("a FIFO that somebody reads gets nothing", async () => {
    const { seen, landed } = await passedOn(
      "rm src/a; mkfifo src/a; exec 3<>src/a",
      "read -t 0.2 -u 3 line; echo $line-",
    );
    expect(seen).toEqual(["-"]);
    expect(landed?.notKept).toEqual([{ path: "src/a", reason: "not_a_file" }]);
  });

  test("what was passed on lands under another name as its own, and not as somebody's", async () => {
    const { landed } = await passedOn("cat src/a >/dev/null", "mv src/a src/mine");
    expect(landed).toEqual({
      created: 1,
      changed: 0,
      removed: 0,
      notKept: [{ path: "src/a", reason: "changed_meanwhile" }],
    });
    expect(readFileSync(join(root, "src/mine"), "utf8")).toBe("newer\n");
  });
});

/** A mirror of plain directories: what it meets when a command was quicker than its look at the upper directory. */
describe("planted in the last moment", () => {
  let base: string;
  let mirror: ViewMirror;
  let descriptors: readonly number[];
  const at = (path: string) => join(base, path);
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "handrail-mirror-")));
    for (const name of ["root/d", "merged/d", "upper", "outside"]) mkdirSync(at(name), { recursive: true });
    for (const name of ["root/d/f", "merged/d/f", "outside/f"]) writeFileSync(at(name), name);
    const opened = (name: string) => openSync(at(name), O_PATH | constants.O_DIRECTORY);
    descriptors = [opened("root"), opened("merged"), opened("upper")];
    const [root = -1, merged = -1, upper = -1] = descriptors;
    mirror = new ViewMirror({ root, merged, upper, user: undefined });
  });
  afterEach(() => {
    for (const descriptor of descriptors) closeSync(descriptor);
    rmSync(base, { recursive: true });
  });
  const text = (path: string) => readFileSync(at(path), "utf8");

  test("control: with nothing planted the file is written", () => {
    mirror.show("d/f");
    expect(text("merged/d/f")).toBe("root/d/f");
  });

  test("a link is not followed, neither to a file nor as a directory, nor to make one", () => {
    rmSync(at("merged/d/f"));
    symlinkSync(at("outside/f"), at("merged/d/f"));
    mirror.show("d/f");
    symlinkSync(at("outside/made"), at("merged/d/new"));
    writeFileSync(at("root/d/new"), "new");
    mirror.show("d/new");
    rmSync(at("merged/d"), { recursive: true });
    symlinkSync(at("outside"), at("merged/d"));
    mirror.show("d/f");
    mirror.show("d/new");
    rmSync(at("root/d/f"));
    mirror.show("d/f");
    expect([text("outside/f"), existsSync(at("outside/made")), existsSync(at("outside/new"))]).toEqual([
      "outside/f",
      false,
      false,
    ]);
  });

  test("a FIFO is not written, with a reader or without", () => {
    rmSync(at("merged/d/f"));
    execFileSync("mkfifo", [at("merged/d/f")]);
    mirror.show("d/f");
    const reader = openSync(at("merged/d/f"), constants.O_RDONLY | constants.O_NONBLOCK);
    mirror.show("d/f");
    expect(readFileSync(reader, "utf8")).toBe("");
    closeSync(reader);
    expect([lstatSync(at("merged/d/f")).isFIFO(), mirror.notes.size === 0]).toEqual([true, true]);
  });

  test("a lease on what is read or written is not waited for", async () => {
    for (const path of ["merged/d/f", "root/d/f"]) {
      const letGo = await holdLeases([at(path)]);
      const startedMs = performance.now();
      mirror.show("d/f");
      expect(performance.now() - startedMs).toBeLessThan(AT_ONCE_MS);
      await letGo();
      expect([text("merged/d/f"), mirror.notes.size === 0]).toEqual(["merged/d/f", true]);
    }
  });

  test("what the workspace has that is no file of its own is not read", () => {
    for (const plant of [
      () => symlinkSync(at("outside/f"), at("root/d/f")),
      () => execFileSync("mkfifo", [at("root/d/f")]),
      () => mkdirSync(at("root/d/f")),
    ]) {
      rmSync(at("root/d/f"), { recursive: true });
      plant();
      mirror.show("d/f");
      expect([text("merged/d/f"), mirror.notes.has("d/f")]).toEqual(["merged/d/f", false]);
    }
  });

  test("a path that leads out is not taken", () => {
    linkSync(at("outside/f"), at("outside/g"));
    mirror.show("../outside/f");
    rmSync(at("outside/g"));
    mirror.show("../outside/g");
    expect(text("outside/f")).toBe("outside/f");
  });
});
