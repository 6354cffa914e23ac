// Programs that run other programs by their arguments, settings or environment: they may, but what they run stays
// inside. The control runs the same outside of the sandbox, where it leaves its mark.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseCommand } from "../../../src/tools/shell/reading/parse-command.ts";
import { newSandboxPlace, own, type SandboxPlace, sandboxUser, testedBackend } from "../../support/sandbox-place.ts";

let place: SandboxPlace;
beforeAll(() => {
  place = newSandboxPlace();
  own(place.outside);
  for (const name of ["a.txt", "b.txt"]) {
    writeFileSync(join(place.root, name), `text of ${name}\n`);
    own(join(place.root, name));
  }
});
afterAll(() => place.close());

test("a command has few watchers of files, and sees no names of keys", async () => {
  const program =
    "import ctypes; c = ctypes.CDLL(None); n = 0\nwhile n < 400 and c.inotify_init1(0) >= 0: n += 1\nprint(n)";
  const count = async (run: () => Promise<string>) => Number((await run()).trim());
  const inside = await count(async () => (await place.run(["python3", "-c", program])).stdout);
  if (testedBackend() === "bwrap") expect(inside).toBe(12); // a container has those of its user
  const outside = spawnSync("python3", ["-c", program], { encoding: "utf8" }).stdout;
  expect(Number(outside)).toBeGreaterThan(12); // the control
  const keys = await place.run("cat /proc/keys /proc/key-users 2>/dev/null; test -s /proc/keys && echo shown");
  expect(keys.stdout).toBe("");
});

/** Leaves marks: one where only the machine has a directory, one in the workspace. */
function payload(): string {
  return `touch ${place.outside}/mark; touch ran`;
}

function control(command: string, environment: Readonly<Record<string, string>> = {}): void {
  const isRoot = process.geteuid?.() === 0;
  spawnSync("bash", ["--noprofile", "--norc", "-c", command], {
    cwd: place.root,
    env: { PATH: "/usr/bin:/bin", HOME: place.root, ...environment },
    stdio: "ignore",
    ...(isRoot && { uid: sandboxUser(), gid: sandboxUser() }),
  });
}

/** Which marks a run left; they are taken away. */
function marks(): { readonly outside: boolean; readonly inside: boolean } {
  const found = { outside: existsSync(join(place.outside, "mark")), inside: existsSync(join(place.root, "ran")) };
  rmSync(join(place.outside, "mark"), { force: true });
  rmSync(join(place.root, "ran"), { force: true });
  return found;
}

const GADGETS = {
  "tar runs a program for each file": () => "tar cf t.tar a.txt && tar xf t.tar --to-command='sh run.sh'; rm t.tar",
  "tar runs a program at a checkpoint": () =>
    "tar cf /dev/null a.txt --checkpoint=1 --checkpoint-action=exec='sh run.sh'",
  "rg runs a program for each file": () => "rg --pre ./run.sh text a.txt",
  "sort runs a program to pack": () => "seq 1 200000 | sort -S 100k -T . --compress-program=./run.sh >/dev/null",
  "split runs a program for each part": () => "split -l 1 --filter='sh run.sh' a.txt",
  "find runs a program": () => "find a.txt -exec sh run.sh ';'",
  "xargs runs a program": () => "echo run.sh | xargs sh",
  "git runs what its settings name": () =>
    "git init -q repo; cd repo; git -c alias.x='!cd ..; sh run.sh' x; cd ..; rm -rf repo",
  "git compares by a program": () => "git -c diff.external='sh run.sh' diff --no-index --ext-diff a.txt b.txt",
  "sed runs a program": () => "echo x | sed '1e sh run.sh'",
  "awk runs a program": () => `awk 'BEGIN { system("sh run.sh") }'`,
  "perl runs a program": () => "perl -e 'system q(sh run.sh)'",
  "env runs a program": () => "env -S 'sh run.sh'",
  "a trap runs when the shell ends": () => "trap 'sh run.sh' EXIT",
};

test.each(Object.entries(GADGETS))("%s", async (_, gadget) => {
  writeFileSync(join(place.root, "run.sh"), `#!/bin/sh\n${payload()}\nexec cat\n`, { mode: 0o755 });
  own(join(place.root, "run.sh"));
  const command = `{ ${gadget()}\n} </dev/null`;
  control(command);
  expect(marks()).toEqual({ outside: true, inside: true });
  await place.run(command);
  expect(marks()).toEqual({ outside: false, inside: true });
});

test.each(Object.entries(GADGETS))(
  "%s: whoever decides about the command is told, by a danger or by the program's name",
  (_, gadget) => {
    const { commands } = parseCommand(gadget(), ".");
    expect(commands.some(({ dangers, binary }) => dangers.length > 0 || binary === "sh")).toBe(true);
  },
);

test("a shell that reads a file before it begins stays inside", async () => {
  writeFileSync(join(place.root, "first.sh"), payload());
  const environment = { BASH_ENV: "first.sh" };
  control("true", environment);
  expect(marks()).toEqual({ outside: true, inside: true });
  await place.run("true", { environment });
  expect(marks()).toEqual({ outside: false, inside: true });
});

test("what the loader of programs obeys is no part of an environment", async () => {
  const environment = { LD_DEBUG: "help" };
  await expect(place.run("true", { environment })).rejects.toThrow("loader");
  const { stdout } = await place
    .runWithout({ plan: (plan) => ({ ...plan, environment: { ...plan.environment, ...environment } }) }, "true")
    .catch((error: Error) => ({
      stdout: error.message,
    }));
  expect(stdout).not.toBe(""); // the program that sets the limits never came to do so
});

test("programs of the workspace do not take the place of the one that sets the limits", async () => {
  mkdirSync(join(place.root, "bin"), { recursive: true });
  for (const name of ["sh", "echo", "ulimit"])
    writeFileSync(join(place.root, "bin", name), "#!/bin/bash\necho taken\n", { mode: 0o755 });
  const environment = { PATH: "/workspace/bin:/usr/bin:/bin" };
  const { stdout } = await place.run(["/usr/bin/bash", "-c", "ulimit -n; sh"], { environment });
  expect(stdout).toBe("1024\ntaken\n");
});
