// Machines and workspaces as they come: without bubblewrap, without namespaces, workspaces of other users, kernels that
// are root or anybody. Where a command cannot be contained it does not run, and whoever asked is told what to do.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SANDBOX_USER_ID } from "../../../src/sandbox/identity/identity.ts";
import { requireNoMounts } from "../../../src/sandbox/run/mount-check.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import {
  EVERYTHING,
  LIMITS,
  newSandboxPlace,
  own,
  type SandboxPlace,
  sandboxUser,
} from "../../support/sandbox-place.ts";

const CHECKOUT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const NOBODY = 65534;
const isRoot = process.geteuid?.() === 0;

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(() => place.close());

/**
 * What `sandbox-run` prints as an ordinary user, who reaches the checkout and this Node wherever they are. `before` is
 * put before Node.
 */
function asOrdinaryUser(root: string, command: string, before: readonly string[] = []): string {
  const child = ["test/support/children/sandbox-run.ts", root, command];
  const [checkout, node] = [join(place.base, "checkout"), join(place.base, "node")];
  const script = isRoot
    ? `mount --bind ${CHECKOUT} ${checkout} && mount --bind ${dirname(process.execPath)} ${node} && cd ${checkout} && exec setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups --inh-caps=-all -- "$@"`
    : `cd ${CHECKOUT} && exec "$@"`;
  for (const directory of [checkout, node]) mkdirSync(directory, { recursive: true });
  const program = isRoot ? join(node, "node") : process.execPath;
  const enter = isRoot
    ? ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
    : ["sh", "-c", script, "sh"];
  const [first = "", ...rest] = [...enter, ...before, program, ...child];
  const { stdout, stderr } = spawnSync(first, rest, {
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
    timeout: 120_000,
  });
  return (stdout + stderr).trim();
}

test("without bubblewrap nothing runs, and it says what to install", async () => {
  const sandbox = new Sandbox({
    instanceId: "none",
    userId: SANDBOX_USER_ID,
    toolchains: [],
    programs: [join(place.base, "bwrap")],
  });
  const run = {
    root: place.root,
    judge: EVERYTHING,
    command: ["touch", "ran"] as const,
    workDir: "/workspace",
    environment: {},
    limits: LIMITS,
  };
  const output = { stdout: () => undefined, stderr: () => undefined };
  const failure = { code: "SANDBOX_UNAVAILABLE", suggestion: expect.stringContaining("apt-get install bubblewrap") };
  await expect(sandbox.run(run, output, new AbortController().signal)).rejects.toMatchObject(failure);
  expect([sandbox.diagnose().program, existsSync(join(place.root, "ran"))]).toEqual([undefined, false]);
  sandbox.close();
});

test("a workspace in which something is mounted is shown to no command, also where the kernel is root", () => {
  const [data, child] = [
    join(place.root, "data"),
    ["test/support/children/sandbox-run.ts", place.root, "cat data/secret"],
  ];
  mkdirSync(data);
  writeFileSync(join(data, "secret"), "UNDERNEATH");
  const table = (at: string) => `22 1 0:21 / / rw - ext4 /dev/x rw\n23 22 0:22 / ${at} rw - tmpfs none rw\n`;
  expect(() => requireNoMounts("/w/a b", table("/w/a\\040b/data"))).toThrow("(`data`)");
  for (const at of ["/w/a\\040b", "/w/a\\040bc/d", "/w"])
    expect(() => requireNoMounts("/w/a b", table(at))).not.toThrow();
  if (!isRoot) return; // nobody else can mount there
  const privately = (script: string) =>
    spawnSync(
      "unshare",
      ["--mount", "--propagation", "private", "sh", "-c", `${script} exec "$@"`, "sh", process.execPath, ...child],
      {
        encoding: "utf8",
        timeout: 120_000,
      },
    );
  const { stdout, stderr } = privately(`mount -t tmpfs none ${data} &&`);
  expect(stdout + stderr).toMatch(/something else is mounted in the workspace \(`data`\)/);
  expect(stdout + stderr).not.toContain("UNDERNEATH");
  expect(privately("").stdout).toContain("UNDERNEATH");
});

test("a bubblewrap that fails is told with what it says", async () => {
  const broken = join(place.base, "bwrap");
  writeFileSync(broken, "#!/bin/sh\necho 'bwrap: no permissions to create a new namespace' >&2; exit 1\n", {
    mode: 0o755,
  });
  const sandbox = new Sandbox({ instanceId: "broken", userId: SANDBOX_USER_ID, toolchains: [], programs: [broken] });
  const run = {
    root: place.root,
    judge: EVERYTHING,
    command: ["touch", "ran"] as const,
    workDir: "/workspace",
    environment: {},
    limits: LIMITS,
  };
  const failure = {
    code: "SANDBOX_UNAVAILABLE",
    message: expect.stringContaining("no permissions to create a new namespace"),
  };
  await expect(
    sandbox.run(run, { stdout: () => undefined, stderr: () => undefined }, new AbortController().signal),
  ).rejects.toMatchObject(failure);
  sandbox.close();
});

test("an ordinary user's kernel contains its commands as that user", () => {
  const root = join(place.base, "theirs");
  mkdirSync(root);
  if (isRoot) chownSync(root, NOBODY, NOBODY);
  const said = asOrdinaryUser(root, "id -u; touch made; cat /etc/shadow 2>/dev/null; true");
  expect(said).toContain(`ended 0 1000 as ${isRoot ? NOBODY : sandboxUser()}`);
  expect(statSync(join(root, "made")).uid).toBe(isRoot ? NOBODY : sandboxUser());
});

test("an ordinary user's kernel cannot contain commands where namespaces are forbidden, and says so", () => {
  const root = join(place.base, "theirs");
  mkdirSync(root);
  if (isRoot) chownSync(root, NOBODY, NOBODY);
  // a sandbox within which there are no more namespaces
  const forbidden = [
    "bwrap",
    "--unshare-user",
    "--disable-userns",
    "--bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--",
  ];
  const said = asOrdinaryUser(root, "touch made", forbidden);
  expect(said).toMatch(
    /^failed SANDBOX_UNAVAILABLE the sandbox could not be made: bwrap: .*namespace.*; the command did not run$/m,
  );
  expect(existsSync(join(root, "made"))).toBe(false);
});

test("a workspace that may not be read is told, and so is one that is gone", () => {
  const root = join(place.base, "closed");
  mkdirSync(root, { mode: 0o700 });
  if (!isRoot) chmodSync(root, 0);
  expect(asOrdinaryUser(root, "touch made")).toMatch(/^failed SANDBOX_UNAVAILABLE .*workspace cannot be read/m);
  expect(asOrdinaryUser(join(place.base, "gone"), "touch made")).toMatch(/^failed SANDBOX_UNAVAILABLE /m);
});

test("a directory that only its owner could open again stays closed", async () => {
  const locked = join(place.root, "locked");
  mkdirSync(locked);
  writeFileSync(join(locked, "key"), "KEY");
  own(locked);
  chmodSync(locked, 0);
  const command = "chmod 700 locked 2>/dev/null; cat locked/key 2>/dev/null; true";
  if (isRoot) {
    // root looks inside, and what it may show it shows
    expect((await place.run(command)).stdout).toBe("KEY");
    return;
  }
  expect((await place.run(command)).stdout).toBe("");
});

test("as root, workspaces of any owner are worked in, and every file keeps its owner", async () => {
  if (!isRoot) return expect((await place.run("touch made; id -u")).stdout).toBe("1000\n");
  const THIRD = 4242;
  for (const owner of [0, THIRD]) {
    const root = join(place.base, `of-${owner}`);
    mkdirSync(root, { mode: 0o700 });
    writeFileSync(join(root, "theirs"), "private", { mode: 0o600 });
    chownSync(join(root, "theirs"), 7777, 7777);
    writeFileSync(join(root, "own"), "text", { mode: 0o600 });
    chownSync(join(root, "own"), owner, owner);
    mkdirSync(join(root, "sub"));
    chownSync(join(root, "sub"), owner, owner);
    chownSync(root, owner, owner);
    const command =
      "cat own; cat theirs 2>/dev/null; echo more >>own; touch sub/made; chown 0 sub/made 2>/dev/null; stat -c %U own theirs";
    const { stdout, end } = await place.run(command, { root });
    expect([stdout, end.exitCode]).toEqual(["textagent\nnobody\n", 0]);
    const owners = ["own", "sub/made", "theirs"].map((path) => statSync(join(root, path)).uid);
    expect(owners).toEqual([owner, owner, 7777]);
  }
});

test("a workspace with blanks, quotes and line feeds in its path and names is worked in", async () => {
  const root = join(place.base, "a b\n'c\"");
  mkdirSync(root);
  own(root);
  mkdirSync(join(root, "x y\\z"));
  own(join(root, "x y\\z"));
  writeFileSync(join(root, "x y\\z", "se cret\n"), "KEY");
  symlinkSync("x y\\z", join(root, "l"));
  const judge = {
    ...EVERYTHING,
    entry: (path: string) => (path.endsWith("se cret\n") ? ("hidden" as const) : ("write" as const)),
  };
  expect((await place.run("cat l/*; touch 'l/n ew'; echo $?", { root, judge })).stdout).toBe("0\n");
});

test("a workspace that was moved away and made anew is the new one", async () => {
  writeFileSync(join(place.root, "old"), "");
  if (isRoot) chownSync(place.root, 0, 0);
  expect((await place.run("ls")).stdout).toBe("old\n");
  const { renameSync } = await import("node:fs");
  renameSync(place.root, join(place.base, "moved"));
  mkdirSync(place.root);
  writeFileSync(join(place.root, "new"), "");
  expect((await place.run("ls")).stdout).toBe("new\n");
});
