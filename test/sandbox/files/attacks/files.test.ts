// Paths that try to leave the workspace or to name what is no ordinary file. Each attack has a control: the same path,
// used in the ordinary way, reaches what it must not reach.
import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endOf, namesBelow, newPlace, type Place, textOf } from "../../../support/files-fixture.ts";

const ALL = { bytesMax: 1 << 20 };
const SECRET = "outside secret";
const bytes = (text: string) => Buffer.from(text);

let place: Place;
beforeEach(() => {
  place = newPlace();
  writeFileSync(join(place.outside, "secret.txt"), SECRET);
});
afterEach(() => place.close());

const read = (path: string) => endOf(() => place.files.read(path, ALL));
const write = (path: string) => endOf(() => place.files.write(path, bytes("overwritten"), { mode: "overwrite" }));
const edit = (path: string) => endOf(() => place.files.transform(path, 1 << 20, () => bytes("overwritten")));
const list = (path: string) => endOf(() => place.files.list(path, { depthMax: 3, entriesMax: 100 }));

describe("symbolic links that lead out", () => {
  test.each([
    ["absolute", (): string => join(place.outside, "secret.txt")],
    ["relative", (): string => "../outside/secret.txt"],
    ["through a link to a directory", (): string => "door/secret.txt"],
  ])("%s: neither read nor written", async (_name, target) => {
    symlinkSync(place.outside, join(place.root, "door"));
    symlinkSync(target(), join(place.root, "link"));
    expect(readFileSync(join(place.root, "link"), "utf8")).toBe(SECRET); // control: the plain way follows it
    expect([await read("link"), await write("link"), await edit("link")]).toEqual(
      Array(3).fill("workspace_symlink_escape"),
    );
    expect(readFileSync(join(place.outside, "secret.txt"), "utf8")).toBe(SECRET);
  });

  test("a directory link is neither listed nor written into", async () => {
    symlinkSync(place.outside, join(place.root, "door"));
    writeFileSync(join(place.root, "door", "control.txt"), ""); // control: the plain way writes outside
    expect(existsSync(join(place.outside, "control.txt"))).toBe(true);
    expect([await list("door"), await write("door/new.txt"), await write("door/a/b.txt")]).toEqual(
      Array(3).fill("workspace_symlink_escape"),
    );
    expect(namesBelow(place.outside)).toEqual(["control.txt", "secret.txt"]);
  });

  test("what exists outside does not show in the answer", async () => {
    symlinkSync(join(place.outside, "secret.txt"), join(place.root, "there"));
    symlinkSync(join(place.outside, "nothing"), join(place.root, "not-there"));
    expect(existsSync(join(place.root, "there"))).not.toBe(existsSync(join(place.root, "not-there"))); // control
    const messages = await Promise.all(
      ["there", "not-there"].map((path) =>
        Promise.resolve()
          .then(() => place.files.read(path, ALL))
          .catch(String),
      ),
    );
    expect(messages[0]).toBe(String(messages[1]).replace("not-there", "there"));
    expect(messages[0]).toContain("leads out of the workspace");
  });

  test("links that never end are refused", async () => {
    symlinkSync("round", join(place.root, "round"));
    expect(await read("round")).toBe("workspace_symlink_escape");
  });
});

describe("links that stay inside", () => {
  test.each([
    ["relative", (): string => "real.txt"],
    ["absolute", (): string => join(place.root, "real.txt")],
    ["absolute, through another link", (): string => join(place.root, "dir", "real.txt")],
  ])("%s: read and written, and the link stays", async (_name, target) => {
    writeFileSync(join(place.root, "real.txt"), "inside");
    symlinkSync(".", join(place.root, "dir"));
    symlinkSync(target(), join(place.root, "link"));
    expect(await textOf(place.files, "link")).toBe("inside");
    expect(new Set(place.judged.map((one) => `${one.effect} ${one.path}`))).toEqual(new Set(["read real.txt"]));
    expect(await write("link")).toBe("ok");
    expect(readFileSync(join(place.root, "real.txt"), "utf8")).toBe("overwritten");
    expect(readFileSync(join(place.root, "link"), "utf8")).toBe("overwritten");
  });

  test("a link to a blocked file is judged as that file, whether or not it exists", async () => {
    mkdirSync(join(place.root, "secrets"));
    writeFileSync(join(place.root, "secrets", "key"), "k");
    symlinkSync("secrets/key", join(place.root, "harmless.txt"));
    symlinkSync("secrets/none", join(place.root, "nothing.txt"));
    expect(readFileSync(join(place.root, "harmless.txt"), "utf8")).toBe("k"); // control
    for (const path of ["harmless.txt", "nothing.txt"]) {
      expect([await read(path), await write(path), await edit(path)]).toEqual(Array(3).fill("workspace_blocked_zone"));
    }
    expect(namesBelow(join(place.root, "secrets"))).toEqual(["key"]);
  });
});

describe("a service inside a project", () => {
  let service: Place;
  beforeEach(() => {
    service = newPlace("services/own");
    mkdirSync(join(service.base, "project/services/other"));
    writeFileSync(join(service.base, "project/services/other/code.txt"), "sibling");
    writeFileSync(join(service.base, "project/contracts/api.txt"), "contract");
  });
  afterEach(() => service.close());

  test("a link to a shared directory is read and not written", async () => {
    symlinkSync("../../contracts", join(service.root, "contracts"));
    expect(await textOf(service.files, "contracts/api.txt")).toBe("contract");
    expect(await endOf(() => service.files.write("contracts/api.txt", bytes("x"), { mode: "overwrite" }))).toBe(
      "workspace_read_only",
    );
    expect(readFileSync(join(service.base, "project/contracts/api.txt"), "utf8")).toBe("contract");
  });

  test("a link to a sibling service is refused, also from a shared directory", async () => {
    symlinkSync("../other/code.txt", join(service.root, "sibling.txt"));
    symlinkSync("../services/other/code.txt", join(service.base, "project/contracts/sibling.txt"));
    expect(readFileSync(join(service.root, "sibling.txt"), "utf8")).toBe("sibling"); // control
    const shared = join(service.base, "project/contracts/sibling.txt");
    expect(await endOf(() => service.files.read("sibling.txt", ALL))).toBe("workspace_symlink_escape");
    expect(await endOf(() => service.files.read(shared, ALL))).toBe("workspace_symlink_escape");
    expect(await endOf(() => service.files.read(join(service.base, "project/services/other/code.txt"), ALL))).toBe(
      "workspace_path_escape",
    );
  });
});

describe("paths by themselves", () => {
  test("only what lies inside is named", async () => {
    writeFileSync(join(place.root, "in.txt"), "in");
    writeFileSync(join(place.root, "a..b"), "dots");
    expect(readFileSync(join(place.root, "..", "outside", "secret.txt"), "utf8")).toBe(SECRET); // control
    expect({
      plain: await read("in.txt"),
      dots: await read("a..b"),
      absolute: await read(join(place.root, "in.txt")),
      alias: await read("/workspace/in.txt"),
      traversal: await read("../outside/secret.txt"),
      inner: await read("x/../in.txt"),
      backslash: await read("x\\..\\in.txt"),
      outside: await read(join(place.outside, "secret.txt")),
      nul: await read("in.txt\0.png"),
      long: await read("a/".repeat(3000)),
      longName: await write("n".repeat(300)),
      prefix: await read(`${place.root}-other/in.txt`),
    }).toEqual({
      plain: "ok",
      dots: "ok",
      absolute: "ok",
      alias: "ok",
      traversal: "workspace_path_traversal",
      inner: "workspace_path_traversal",
      backslash: "workspace_path_traversal",
      outside: "workspace_path_escape",
      nul: "workspace_path_escape",
      long: "workspace_path_escape",
      longName: "IO_ERROR",
      prefix: "workspace_path_escape",
    });
  });

  test("a directory is no file, a file no directory, and nothing is not found", async () => {
    mkdirSync(join(place.root, "dir"));
    writeFileSync(join(place.root, "file"), "");
    expect([await read("dir"), await write("dir"), await edit("dir"), await write(".")]).toEqual(
      Array(4).fill("NOT_A_FILE"),
    );
    expect([await list("file"), await read("file/x"), await write("file/x"), await write("file/x/y")]).toEqual(
      Array(4).fill("NOT_A_DIRECTORY"),
    );
    expect([await read("none"), await edit("none"), await list("none"), await read("none/x")]).toEqual(
      Array(4).fill("FILE_NOT_FOUND"),
    );
  });

  test("files in the making cannot be named", async () => {
    const name = ".handrail-new-AAAAAAAAAAAAAAAAAAAAAA";
    writeFileSync(join(place.root, name), "half");
    symlinkSync(name, join(place.root, "link"));
    expect([await read(name), await write(name), await read("link"), await write(`${name}x/y/${name}`)]).toEqual(
      Array(4).fill("workspace_blocked_zone"),
    );
    expect((await place.files.list(".", { depthMax: 1, entriesMax: 10 })).entries.map((entry) => entry.path)).toEqual([
      "contracts",
      "link",
    ]);
  });
});

describe("what is no ordinary file", () => {
  test("a FIFO is refused without waiting for its other end", async () => {
    execFileSync("mkfifo", [join(place.root, "pipe")]);
    const control = "require('node:fs').readFileSync(process.argv[1])";
    expect(() => execFileSync(process.execPath, ["-e", control, join(place.root, "pipe")], { timeout: 500 })).toThrow(
      /ETIMEDOUT/,
    ); // control: it waits
    expect([await read("pipe"), await write("pipe"), await edit("pipe")]).toEqual(Array(3).fill("NOT_A_FILE"));
    expect(statSync(join(place.root, "pipe")).isFIFO()).toBe(true);
  });

  test("a FIFO is not opened at all: whoever waits to write it goes on waiting", async () => {
    const pipe = join(place.root, "pipe");
    execFileSync("mkfifo", [pipe]);
    const writer = spawn(process.execPath, ["-e", "require('node:fs').openSync(process.argv[1], 'w')", pipe], {
      stdio: "ignore",
    });
    const ended = new Promise<boolean>((resolve) => writer.once("exit", () => resolve(true)));
    const waits = () => Promise.race([ended, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 400))]);
    try {
      expect([await waits(), await read("pipe"), await waits()]).toEqual([false, "NOT_A_FILE", false]);
      // control: an opening that does not block lets it go
      closeSync(openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK));
      expect(await ended).toBe(true);
    } finally {
      writer.kill();
    }
  });

  test("a socket is refused", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(place.root, "socket"), resolve));
    try {
      expect([await read("socket"), await write("socket")]).toEqual(["NOT_A_FILE", "NOT_A_FILE"]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test("a device is refused: one in the workspace as no file, one outside as outside", async () => {
    symlinkSync("/dev/zero", join(place.root, "zeros"));
    expect(statSync(join(place.root, "zeros")).isCharacterDevice()).toBe(true); // control
    expect(await read("zeros")).toBe("workspace_symlink_escape");
    if (process.getuid?.() !== 0) return; // only root can make a device of its own
    execFileSync("mknod", [join(place.root, "null"), "c", "1", "3"]);
    expect([await read("null"), await write("null")]).toEqual(["NOT_A_FILE", "NOT_A_FILE"]);
  });

  test("a file with a second name is not written", async () => {
    linkSync(join(place.outside, "secret.txt"), join(place.root, "twin.txt"));
    writeFileSync(join(place.root, "twin.txt"), "changed"); // control: the plain way changes the file outside
    expect(readFileSync(join(place.outside, "secret.txt"), "utf8")).toBe("changed");
    const append = await endOf(() => place.files.write("twin.txt", bytes("x"), { mode: "append" }));
    expect([await write("twin.txt"), await edit("twin.txt"), append]).toEqual(Array(3).fill("workspace_hard_link"));
    expect(readFileSync(join(place.outside, "secret.txt"), "utf8")).toBe("changed");
    expect(namesBelow(place.root)).toEqual(["contracts", "twin.txt"]);
  });
});

test("no descriptor stays open, however calls end", async () => {
  const all = [
    "in.txt",
    "out",
    "hidden",
    "loop",
    "dir",
    "dir/x",
    "none",
    "none/x/y",
    "twin.txt",
    "../x",
    "n".repeat(300),
  ];
  writeFileSync(join(place.root, "in.txt"), "in");
  linkSync(join(place.outside, "secret.txt"), join(place.root, "twin.txt"));
  mkdirSync(join(place.root, "dir"));
  for (const [name, target] of [
    ["out", place.outside],
    ["hidden", ".env"],
    ["loop", "loop"],
  ] as const)
    symlinkSync(target, join(place.root, name));
  const round = async () => {
    for (const path of all) await Promise.all([read(path), edit(path), list(path)]);
    for (const path of all) await endOf(() => place.files.write(path, bytes("x"), { mode: "create_only" }));
    await endOf(() => place.files.transform("in.txt", 1, () => bytes("too large")));
  };
  await round(); // first uses load libraries
  const before = readdirSync("/proc/self/fd").length;
  await round();
  expect(readdirSync("/proc/self/fd")).toHaveLength(before);
});

describe("a workspace that is moved away", () => {
  test("is refused, also when another directory stands in its place", async () => {
    writeFileSync(join(place.root, "in.txt"), "old");
    renameSync(place.root, `${place.root}-old`);
    mkdirSync(place.root);
    writeFileSync(join(place.root, "in.txt"), "new");
    expect([await read("in.txt"), await write("in.txt"), await read("none"), await list(".")]).toEqual(
      Array(4).fill("workspace_path_escape"),
    );
    expect(readFileSync(join(`${place.root}-old`, "in.txt"), "utf8")).toBe("old");
    expect(readFileSync(join(place.root, "in.txt"), "utf8")).toBe("new");
  });

  test("is refused when it was deleted", async () => {
    rmSync(place.root, { recursive: true });
    expect([await read("in.txt"), await write("in.txt"), await list(".")]).toEqual(
      Array(3).fill("workspace_path_escape"),
    );
  });
});
