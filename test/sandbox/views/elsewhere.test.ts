// Views on another file system than the workspace's, where what lands is copied: nothing is taken for somebody else's
// change, and nothing of a file is lost.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newSandboxPlace, own, type SandboxPlace } from "../../support/sandbox-place.ts";

let place: SandboxPlace;
let views: string;
beforeEach(() => {
  views = mkdtempSync("/dev/shm/handrail-views-test-");
  chmodSync(views, 0o711);
  place = newSandboxPlace({ viewsDirectory: views });
});
afterEach(async () => {
  await place.sandbox.endRuns();
  place.close();
  rmSync(views, { recursive: true, force: true });
});

function make(path: string, text: string): void {
  writeFileSync(join(place.root, path), text);
  own(join(place.root, path));
}

function said(path: string, format: string): string {
  return execFileSync("stat", ["-c", format, path], { cwd: place.root, encoding: "utf8" }).trim();
}

test("what was written right before a command is no change by somebody else, and what is written right after is one", async () => {
  for (let round = 0; round < 8; round += 1) {
    make("f", `${round}`);
    const { end } = await place.run("echo more >>f");
    expect(end.landed?.notKept).toEqual([]);
  }
  let isDone = false;
  const onOutput = () => {
    if (!isDone) writeFileSync(join(place.root, "f"), "person");
    isDone = true;
  };
  const { end } = await place.run("echo begun; sleep 0.2; echo more >>f", { onOutput });
  expect([end.landed?.notKept, readFileSync(join(place.root, "f"), "utf8")]).toEqual([
    [{ path: "f", reason: "changed_meanwhile" }],
    "person",
  ]);
});

test("times are kept to the nanosecond, of files, links and new directories", async () => {
  const times = ["2016-02-02 01:02:03.987654321", "1960-01-01 00:00:00.123456789", "2200-01-01 00:00:00.500000001"];
  const command = `TZ=UTC; export TZ; mkdir -p d/e; echo 1 >d/e/f; ln -s f d/e/l; touch -h -d '${times[2]}' d/e/l; touch -d '${times[1]}' d/e/f; touch -d '${times[0]}' d/e d`;
  const { end } = await place.run(command);
  expect(end.landed?.notKept).toEqual([]);
  const timeOf = (path: string) => {
    const { mtimeNs } = lstatSync(join(place.root, path), { bigint: true });
    return [
      new Date(Number(mtimeNs / 1_000_000n)).getUTCFullYear(),
      ((mtimeNs % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n,
    ];
  };
  expect(["d", "d/e", "d/e/f", "d/e/l"].map(timeOf)).toEqual([
    [2016, 987654321n],
    [2016, 987654321n],
    [1960, 123456789n],
    [2200, 500000001n],
  ]);
});

test("holes stay holes, and what is between them is there", async () => {
  const { end } = await place.run(
    "truncate -s 60M s; printf middle | dd of=s bs=1 seek=30000000 conv=notrunc; printf end | dd of=s bs=1 seek=62914557 conv=notrunc",
  );
  expect(end.landed).toMatchObject({ created: 1, notKept: [] });
  const { size, blocks } = statSync(join(place.root, "s"));
  expect([size, blocks * 512 < 1_000_000]).toEqual([62_914_560, true]);
  const bytes = readFileSync(join(place.root, "s"));
  expect([bytes.indexOf("middle"), bytes.indexOf("end")]).toEqual([30_000_000, 62_914_557]);
});

test("a call that is cancelled while what it wrote lands leaves nothing of the file that is being copied", async () => {
  const cancelling = new AbortController();
  const running = place.run("head -c 60000000 /dev/urandom >big", { signal: cancelling.signal });
  const watching = setInterval(() => {
    if (readdirSync(place.root).length > 0) cancelling.abort();
  }, 1);
  const { end } = await running;
  clearInterval(watching);
  expect([cancelling.signal.aborted, end.endedBy, end.landed?.created, readdirSync(place.root)]).toEqual([
    true,
    "cancelled",
    0,
    [],
  ]);
});

test("rights that bound an access control list do not become the group's own", async () => {
  make("f", "1");
  const entry = (tag: number, rights: number, id = 0xffffffff) => {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt16LE(tag, 0);
    bytes.writeUInt16LE(rights, 2);
    bytes.writeUInt32LE(id, 4);
    return bytes;
  };
  const list = Buffer.concat([
    Buffer.of(2, 0, 0, 0),
    entry(1, 6),
    entry(2, 6, 1700),
    entry(4, 0),
    entry(16, 6),
    entry(32, 0),
  ]);
  const program = "import os, sys; os.setxattr(sys.argv[1], 'system.posix_acl_access', bytes.fromhex(sys.argv[2]))";
  execFileSync("python3", ["-c", program, join(place.root, "f"), list.toString("hex")]);
  expect(said("f", "%a")).toBe("660");
  const { end } = await place.run("echo 2 >>f");
  const shown =
    "import os, sys; print(os.getxattr(sys.argv[1], 'system.posix_acl_access').hex() if os.listxattr(sys.argv[1]) else 'none')";
  const after = execFileSync("python3", ["-c", shown, join(place.root, "f")], { encoding: "utf8" }).trim();
  expect(readFileSync(join(place.root, "f"), "utf8")).toBe(end.landed?.changed === 1 ? "12\n" : "1");
  expect(after === list.toString("hex") || ["600", "none"].join() === [said("f", "%a"), after].join()).toBe(true);
});

test("new directories keep what their rights say of removing, and the group of the one that they lie in", async () => {
  mkdirSync(join(place.root, "s"));
  own(join(place.root, "s"));
  chmodSync(join(place.root, "s"), 0o2755);
  const { end } = await place.run("mkdir s/in t; chmod 1777 t; echo 1 >s/in/f");
  expect(end.landed?.notKept).toEqual([]);
  expect(["s", "s/in", "t"].map((path) => said(path, "%a"))).toEqual(["2755", "2755", "1777"]);
});
