// Containers on machines as they come: without the runtime, with one that fails, for ordinary users with and without
// users of their own to give away.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startChild } from "../../../support/children/run.ts";
import { overContainers } from "../../../support/over-containers.ts";
import {
  EVERYTHING,
  newSandboxPlace,
  processesNaming,
  type SandboxPlace,
  sandboxUser,
  useBackend,
} from "../../../support/sandbox-place.ts";
import { comesTrue } from "../../../support/waiting.ts";

const CHECKOUT = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
const NOBODY = 65534;
const isRoot = process.geteuid?.() === 0;
useBackend("container");

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(() => place.close());

test("without the runtime nothing runs, and it says what to install; nothing else takes its place", async () => {
  const without = newSandboxPlace({ programs: [join(place.base, "runc")] });
  const failure = { code: "SANDBOX_UNAVAILABLE", suggestion: expect.stringContaining("apt-get install runc") };
  await expect(without.run("touch ran")).rejects.toMatchObject(failure);
  expect([without.sandbox.diagnose().program, existsSync(join(without.root, "ran"))]).toEqual([undefined, false]);
  without.close();
});

/** Has temporary files made in a directory of that mode. */
async function withTemporary(mode: number, work: (directory: string) => Promise<void>): Promise<void> {
  const before = process.env["TMPDIR"];
  const directory = mkdtempSync(join(place.base, "temporary-"));
  chmodSync(directory, mode);
  process.env["TMPDIR"] = directory;
  try {
    await work(directory);
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(directory, { recursive: true });
  }
}

test("a container whose kernel was killed while it was made never begins", async () => {
  for (const delayMs of [20, 60, 100]) {
    const child = startChild("sandbox-run", [place.root, "touch began; sleep 75.125"]);
    await new Promise((resolve) => setTimeout(resolve, 250 + delayMs));
    child.process.kill("SIGKILL");
    await child.ended;
  }
  const isGone = () => processesNaming("75.125").length === 0;
  expect(await comesTrue(isGone)).toBe(true);
});

/**
 * What `sandbox-run` prints as an ordinary user. `ranges` is what the machine says there of users that it may give
 * away; it stands in a view of the machine that only the program sees.
 */
function asOrdinaryUser(root: string, command: string, ranges: string): string {
  const [checkout, node, subordinate] = ["checkout", "node", "subordinate"].map((name) => join(place.base, name)) as [
    string,
    string,
    string,
  ];
  for (const directory of [checkout, node]) mkdirSync(directory, { recursive: true });
  writeFileSync(subordinate, ranges);
  const script = `for file in /etc/subuid /etc/subgid; do mount --bind ${subordinate} $file; done
    mount --bind ${CHECKOUT} ${checkout} && mount --bind ${dirname(process.execPath)} ${node} && cd ${checkout} &&
    exec setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups --inh-caps=-all -- "$@"`;
  const child = [join(node, "node"), "test/support/children/sandbox-run.ts", root, command];
  const { stdout, stderr } = spawnSync(
    "unshare",
    ["--mount", "--propagation", "private", "sh", "-c", script, "sh", ...child],
    {
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", HANDRAIL_TEST_BACKEND: "container" },
      timeout: 120_000,
    },
  );
  return (stdout + stderr).trim();
}

test("an ordinary user's kernel makes containers as that user, with users that it was given", async () => {
  if (!isRoot) {
    // whoever runs this is one: either has users to give away, or is told
    const ran = await place.run("id -u").then(
      ({ stdout }) => stdout,
      ({ code, message }: { code: string; message: string }) => `${code} ${message}`,
    );
    expect(ran).toMatch(/^(1000\n|SANDBOX_UNAVAILABLE .*did not run)$/s);
    return;
  }
  const root = join(place.base, "theirs");
  mkdirSync(root, { mode: 0o700 });
  chownSync(root, NOBODY, NOBODY);
  const said = asOrdinaryUser(root, "id -u; touch made; cat /etc/shadow 2>/dev/null; true", "nobody:100000:65536\n");
  expect(said).toContain(`ended 0 1000 as ${NOBODY}`);
  expect(statSync(join(root, "made")).uid).toBe(NOBODY);
});

test("an ordinary user without any is told so, and nothing runs", async () => {
  if (!isRoot) return expect(sandboxUser()).toBe(process.geteuid?.());
  const root = join(place.base, "theirs");
  mkdirSync(root);
  chownSync(root, NOBODY, NOBODY);
  const said = asOrdinaryUser(root, "touch made", "");
  expect(said).toMatch(/^failed SANDBOX_UNAVAILABLE the sandbox could not be made: .*did not run$/m);
  expect(said).toContain("usermod --add-subuids");
  expect(existsSync(join(root, "made"))).toBe(false);
});

await overContainers(async () => {
  test("a runtime that fails is told with what it says, and nothing is left of the attempt", async () => {
    const broken = join(place.base, "runc");
    writeFileSync(broken, "#!/bin/sh\necho 'runc: no control group for you' >&2; exit 1\n", { mode: 0o755 });
    const failing = newSandboxPlace({ programs: [broken] });
    const failure = {
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringMatching(/no control group for you.*did not run/),
    };
    await expect(failing.run("touch ran")).rejects.toMatchObject(failure);
    expect(existsSync(join(failing.root, "ran"))).toBe(false);
    failing.close();
  });

  test("a command that ends the container in which it runs lands nothing that it made", async () => {
    const crash = `perl -e 'open my $maps, "<", "/proc/1/maps" or die; my @code = map { /^(\\w+)-(\\w+) r.xp .*(?:sh|libc)/ ? [hex $1, hex $2] : () } <$maps>;
      open my $memory, "+<", "/proc/1/mem" or die; for (@code) { sysseek $memory, $_->[0], 0; syswrite $memory, "\\xcc" x ($_->[1] - $_->[0]) }'`;
    const judge = { ...EVERYTHING, entry: (path: string) => (path === "CLAUDE.md" ? "read" : "write") } as const;
    const { end } = await place.run(`echo evil > CLAUDE.md; ${crash}; exit 7`, { judge });
    expect([end.exitCode, end.problem?.code, end.landed]).toEqual([undefined, "OUTCOME_UNKNOWN", undefined]);
    expect(existsSync(join(place.root, "CLAUDE.md"))).toBe(false);
  });

  test("nothing of containers is left on the machine when their kernel has closed", async () => {
    await withTemporary(0o755, async (directory) => {
      const closing = newSandboxPlace();
      expect((await closing.run("true")).end.exitCode).toBe(0);
      const made = () => readdirSync(directory).filter((name) => name.startsWith("handrail-container-"));
      expect(made()).toHaveLength(1);
      closing.close();
      expect(made()).toEqual([]);
    });
  });

  test("where others cannot pass through to the directory for temporary files, containers are made elsewhere", async () => {
    await withTemporary(0o700, async (directory) => {
      expect((await place.run("true")).end.exitCode).toBe(0);
      expect(readdirSync(directory)).toHaveLength(isRoot ? 0 : 1); // an ordinary user is no other
    });
  });
});
