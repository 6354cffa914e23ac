// Files with leases on them: whoever opens one and waits stands for up to 45 s. Whatever the kernel does with a file of
// the workspace, its one thread goes on, and the call is told that the file is busy. The leases are held from outside
// of the sandbox, the worst there can be.
import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { systemRandom } from "../../../../src/base/ids.ts";
import type { JsonObject } from "../../../../src/base/json.ts";
import { createKernel, type KernelSession } from "../../../../src/index.ts";
import { securityEventOf } from "../../../../src/ledger/audit/security-event.ts";
import { readPreImage } from "../../../../src/sandbox/files/pre-image.ts";
import { stallFinding } from "../../../../src/server/doctor/doctor-stalls.ts";
import { openLedgerReader } from "../../../../src/server/ledger/ledger-reader.ts";
import { TrustDesk } from "../../../../src/server/workspace/trust.ts";
import { newPlace } from "../../../support/files-fixture.ts";
import { newRepository } from "../../../support/git-place.ts";
import { holdLeases } from "../../../support/leaseholder.ts";
import { MemoryLedger, testTool } from "../../../support/memory-kernel.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const BREAK_MS = Number(readFileSync("/proc/sys/fs/lease-break-time", "latin1")) * 1000;
/** Far from what a thread stands that waits for a lease, and far from what a busy machine makes of no wait at all. */
const GAP_MAX_MS = 20_000;
const CONTROL_MS = 2000;

/** The longest that this thread stood while `work` went on. */
async function longestGap(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
    look();
  }
  return longest;
}

/** What a plain opening does in `CONTROL_MS`. */
function plainOpening(path: string): string {
  const { error, status } = spawnSync("cat", [path], { timeout: CONTROL_MS, killSignal: "SIGKILL", encoding: "utf8" });
  return error === undefined ? `ended with ${status}` : "stood";
}

function laidOut(): Place {
  const place = freshPlace();
  newRepository(place.workspace).commit("first", {
    "a.txt": "needle\n",
    "b.txt": "needle\n",
    "package.json": '{"scripts":{"test":"true"}}\n',
  });
  place.put("workspace/.gitignore", "hidden.txt\n");
  place.put("workspace/hidden.txt", "needle\n");
  symlinkSync("a.txt", join(place.workspace, "link.txt"));
  return place;
}

async function told(session: KernelSession, tool: string, args: JsonObject): Promise<string> {
  const { outcome } = (await session.call(tool, args)).response;
  if (outcome.kind === "denied") return `${outcome.denial.reason}: ${outcome.denial.message}`;
  return outcome.kind === "error" ? `${outcome.code}${outcome.retryable ? ", try again" : ""}` : "done";
}

test("the control: a plain opening of a leased file stands, and one that does not wait is refused at once", async () => {
  const place = laidOut();
  const leased = join(place.workspace, "a.txt");
  const letGo = await holdLeases([leased]);
  expect(BREAK_MS).toBeGreaterThan(2 * GAP_MAX_MS);
  expect(plainOpening(leased)).toBe("stood");
  await letGo();
  expect(plainOpening(leased)).toBe("ended with 0");
});

const EDIT = { path: "a.txt", edits: [{ operation: "delete", spec: "needle\n" }] };
const BUSY: readonly (readonly [tool: string, args: JsonObject])[] = [
  ["read_file", { path: "a.txt" }],
  ["read_file", { path: "link.txt" }],
  ["edit_file", EDIT],
  ["search_file", { path: ".", regex: "needle" }],
  ["count_matches", { path: ".", regex: "needle" }],
  ["git", { operation: "STATUS" }],
  ["git", { operation: "LOG" }],
];

test("every tool that reads a leased file is told that it is busy, and nothing stands meanwhile", async () => {
  const place = laidOut();
  await using kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
  });
  const session = await kernel.openSession({ workspace: place.workspace });
  await session.call("search_file", { path: ".", regex: "nothing" }); // what is loaded with a first call takes its time
  const letGo = await holdLeases(
    [".gitignore", "a.txt", "package.json", ".git/config"].map((name) => join(place.workspace, name)),
  );
  const answers: string[] = [];
  const gap = await longestGap(async () => {
    for (const [tool, args] of BUSY) answers.push(await told(session, tool, args));
  });
  expect(answers).toEqual(BUSY.map(() => "RESOURCE_BUSY, try again"));
  expect(gap).toBeLessThan(GAP_MAX_MS);

  // What needs no look into the file is done, and a project file that cannot be read is told as that.
  const others = await longestGap(async () => {
    expect(await told(session, "list_files", { path: "." })).toBe("done");
    expect(await told(session, "run_test", {})).toBe("NOT_SUPPORTED");
    expect(await told(session, "write_file", { path: "a.txt", content: "new" })).toBe("done");
  });
  expect(others).toBeLessThan(GAP_MAX_MS);
  await letGo();
  expect(await told(session, "read_file", { path: "a.txt" })).toBe("done");
  expect(await told(session, "search_file", { path: ".", regex: "needle" })).toBe("done");
});

test("a workspace whose own configuration is leased is busy, and not closed for good", async () => {
  const place = laidOut();
  place.put("workspace/handrail.yaml", "files: { secret: [keys] }\n");
  await using kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
  });
  const session = await kernel.openSession({ workspace: place.workspace });
  for (const name of ["handrail.yaml", "policy.json"]) {
    place.put("workspace/policy.json", "{}\n");
    const letGo = await holdLeases([join(place.workspace, name)]);
    const other = await kernel.openSession({ workspace: place.workspace });
    let answer = "";
    const gap = await longestGap(async () => {
      answer = await told(other, "read_file", { path: "a.txt" });
    });
    await letGo();
    expect([name, answer, gap < GAP_MAX_MS]).toEqual([name, "RESOURCE_BUSY, try again", true]);
  }
  expect(await told(session, "read_file", { path: "a.txt" })).toBe("done");
});

test("trusting a workspace, and listing what is trusted", async () => {
  const place = laidOut();
  const file = place.put("workspace/handrail.yaml", "files: { secret: [keys] }\n");
  const desk = new TrustDesk({
    operatorPath: place.config,
    ledger: new MemoryLedger(),
    clock: systemClock,
    random: systemRandom,
  });
  await desk.trust(place.workspace, "ada");
  await holdLeases([file]);
  const gap = await longestGap(async () => {
    await expect(desk.trust(place.workspace, "ada")).rejects.toMatchObject({ code: "WORKSPACE_BUSY" });
    expect(await desk.list()).toMatchObject([{ state: "unreadable" }]);
  });
  expect(gap).toBeLessThan(GAP_MAX_MS);
});

test("what is appended to, and what a person is asked to approve a change of", async () => {
  const place = newPlace();
  onTestFinished(place.close);
  await place.files.write("leased", Buffer.from("text"), { mode: "overwrite" });
  await holdLeases([join(place.root, "leased")]);
  const scope = { workspace: place.workspace, roots: place.roots, judge: () => undefined };
  const gap = await longestGap(async () => {
    const read = readPreImage(scope, "leased", { bytesMax: 100, signal: new AbortController().signal });
    await expect(read).rejects.toMatchObject({ code: "RESOURCE_BUSY", retryable: true });
    const appended = place.files.write("leased", Buffer.from("more"), { mode: "append" });
    await expect(appended).rejects.toMatchObject({ code: "RESOURCE_BUSY", retryable: true });
  });
  expect(gap).toBeLessThan(GAP_MAX_MS);
});

test("a tool that stands in the kernel's thread is told of on standard error, in the kernel's health and in the security audit", async () => {
  const place = laidOut();
  const slow = testTool(
    "slow",
    async () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
      return { kind: "data", data: {} };
    },
    { effect: "read" },
  );
  place.put(
    "config/policy/own.cedar",
    `@id("own.slow")\n@message("m")\npermit (principal, action == Handrail::Action::"slow", resource);\n`,
  );
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  const options = {
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
    tools: [slow],
    onWarning,
  };
  await using kernel = await createKernel(options);
  const session = await kernel.openSession({ workspace: place.workspace });
  expect(await told(session, "slow", { path: "a.txt" })).toBe("done");
  const said = () => warnings.filter((line) => line.includes("running slow"));
  while (said().length === 0) await pause(20);
  expect(said()[0]).toMatch(/stood for \d+\.\d s: running slow/);
  expect(kernel.health().stalls.count).toBeGreaterThanOrEqual(1);
  await kernel.close();
  const audit = await auditOf(place);
  expect(audit).toContainEqual(expect.objectContaining({ event: "kernel_stalled", severity: "warning" }));
  expect(await stallFinding(place.state)).toMatchObject({
    status: "advisory",
    detail: expect.stringContaining("running slow"),
  });
});

/** The security audit of a state directory, as its reader sees it. */
async function auditOf({ state }: Place) {
  const reader = await openLedgerReader(state);
  const records = await reader.tail(100);
  await reader.close();
  return records.map((record) => securityEventOf(record));
}
