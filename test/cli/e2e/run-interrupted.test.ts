/**
 * `handrail run --staged` that a signal ends: it says so in one line, changes nothing, and what a killed one left is
 * named.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { collect, dataIn, environmentOf, handrail, launchOf, until } from "../../support/command-line.ts";
import { freshPlace, type Place } from "../../support/place.ts";
import { processesNaming } from "../../support/sandbox-place.ts";

let runs = 0;

/** A run in a process group of its own, as a shell at a terminal starts it, of a command that lasts. */
function started(place: Place) {
  runs += 1;
  const word = `301.${process.pid}${runs}`;
  const words = ["bash", "-c", `echo x > own.txt; word=${word}; sleep $word`];
  const run = ["run", "--staged", "--preset", "open", "--workspace", place.workspace, "--", ...words];
  const { command, args, environment } = launchOf(place, run);
  const child = spawn(command, args, { env: environmentOf(place, environment), cwd: place.workspace, detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = collect(child);
  const ended = once(child, "close").then(([code, signal]) => ({ code: signal ?? code, ...output() }));
  return { child, ended, word };
}

function childrenOf(id: number | undefined): string {
  return readFileSync(`/proc/${id}/task/${id}/children`, "utf8");
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s from a terminal, while the sandbox is set up, is one line, and changes nothing",
  async (signal) => {
    const place = freshPlace();
    const { child, ended } = started(place);
    await until(() => childrenOf(child.pid) !== "");
    process.kill(-(child.pid ?? 0), signal);
    const { code, stderr } = await ended;
    expect(stderr).toMatch(/^interrupted by SIG(INT|TERM): nothing was changed in the workspace$/m);
    expect(stderr).not.toMatch(/internal error|cannot be shown|operator|^ +at /m);
    expect([code, readdirSync(place.workspace)]).toEqual([128 + constants.signals[signal], []]);
    const { stdout } = await handrail(place, ["branches", "list", "--workspace", place.workspace]);
    expect(stdout).toContain("there is no branch");
  },
);

test("a branch that a killed run left is named as such, and that of one that goes on is not", async () => {
  const place = freshPlace();
  const list = (...more: readonly string[]) =>
    handrail(place, ["branches", "list", "--workspace", place.workspace, ...more]);
  const { child, ended, word } = started(place);
  await until(() => processesNaming(`sleep ${word}`).length > 0);
  const before = await list();
  expect([before.stdout, before.stderr]).toEqual([
    expect.stringContaining("run/"),
    expect.not.stringContaining("left"),
  ]);
  child.kill("SIGKILL");
  await ended;
  expect((await list()).stderr).toMatch(/run\/\w+ is left of a `handrail run` that was killed/);
  expect(dataIn((await list("--json")).stdout)).toMatchObject([{ left_by_killed_run: true }]);
});

test("what a command has left that failed is not merged, whatever was agreed to beforehand", async () => {
  const place = freshPlace();
  const run = (...words: readonly string[]) =>
    handrail(place, ["run", "--staged", "--yes", "--workspace", place.workspace, "--", ...words]);
  const failed = await run("bash", "-c", "echo half > half.txt; exit 7");
  expect({ code: failed.code, files: readdirSync(place.workspace) }).toEqual({ code: 3, files: [] });
  expect(failed.stdout + failed.stderr).toMatch(/the branch run\/\S+ stays/);
  const merged = await run("bash", "-c", "echo whole > whole.txt");
  expect({ code: merged.code, files: readdirSync(place.workspace) }).toEqual({ code: 0, files: ["whole.txt"] });
});
