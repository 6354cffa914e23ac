/** `handrail start`: the demonstration decides its calls as it says, and leaves nothing behind. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collect, handrail, linesOf, startHandrail, until } from "../../support/command-line.ts";
import { readEvidence } from "../../support/evidence.ts";
import { freshPlace, type Place } from "../../support/place.ts";

/** Decision, tool and path of each call that was shown. */
function decisions(stdout: string): string[][] {
  return linesOf(stdout)
    .filter((line) => /^(allow|deny|error) /.test(line))
    .map((line) => line.split(/\s+/).slice(0, 3));
}

/** State of each session in a state directory. */
async function sessionStates(place: Place, state: string): Promise<(string | undefined)[]> {
  const { stdout } = await handrail(place, ["sessions", "list", "--state", state]);
  return linesOf(stdout)
    .slice(1)
    .map((line) => line.split(/\s+/)[1]);
}

/** Every path below a directory. */
const everything = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();

const temporaryFiles = (place: Place) => join(place.base, "tmp");

test("start --once shows six calls with the right decisions on a copy of the bundled example", async () => {
  const place = freshPlace();
  mkdirSync(temporaryFiles(place));
  const { code, stdout, stderr } = await handrail(place, ["start", "--once"], {
    environment: { TMPDIR: temporaryFiles(place) },
  });
  expect([code, stderr]).toEqual([0, ""]);
  expect(decisions(stdout)).toEqual([
    ["allow", "list_files", "."],
    ["allow", "write_file", "handrail-start-check.txt"],
    ["allow", "read_file", "README.md"],
    ["allow", "edit_file", "handrail-start-check.txt"],
    ["deny", "read_file", "../billing/README.md"],
    ["deny", "read_file", ".env"],
  ]);
  expect(stdout).toMatch(/^ledger {5}intact, \d+ entries verified$/m);
  // nothing that is printed for later names what is gone by then
  expect(stdout).toMatch(/^connect Claude Code: {3}\S+\/handrail setup claude-code --workspace \.$/m);
  expect(/^connect[\s\S]*/m.exec(stdout)?.[0]).not.toContain(temporaryFiles(place));
  expect(everything(place.home)).toEqual([]);
  expect(everything(place.workspace)).toEqual([]);
  expect(everything(temporaryFiles(place))).toEqual([]);
});

test("on a user's workspace it keeps its state in the usual place, reads, writes and removes its own file, and changes nothing else", async () => {
  const place = freshPlace();
  place.put("workspace/README.md", "# Mine\n");
  place.put("workspace/.env", "KEY=1\n");
  const before = everything(place.base);
  const { code, stdout, stderr } = await handrail(place, ["start", "--once", "--workspace", place.workspace]);
  expect([code, stderr]).toEqual([0, ""]);
  const client = /^connect Claude Code: {3}(\S+) (.*)$/m.exec(stdout);
  expect([existsSync(client?.[1] ?? ""), client?.[2]]).toEqual([
    true,
    `setup claude-code --workspace ${place.workspace}`,
  ]);
  expect(decisions(stdout).map(([decision]) => decision)).toEqual(["allow", "allow", "allow", "allow", "deny", "deny"]);
  expect(everything(place.base).filter((path) => path !== "state" && !path.startsWith("state/"))).toEqual(before);
  expect(readFileSync(join(place.workspace, "README.md"), "utf8")).toBe("# Mine\n");
  const records = await readEvidence(place.state);
  expect(records.filter(({ entry }) => entry.eventType === "tool_execution_denied")).toHaveLength(2);
  expect(await sessionStates(place, place.state)).toEqual(["revoked"]);
});

test("a file of the user's that bears the name of its own is neither changed nor removed", async () => {
  const place = freshPlace();
  place.put("workspace/handrail-start-check.txt", "mine\n");
  const { code } = await handrail(place, ["start", "--once", "--workspace", place.workspace, "--state", place.state]);
  expect(readFileSync(join(place.workspace, "handrail-start-check.txt"), "utf8")).toBe("mine\n");
  expect(code).toBe(0);
});

test("without --once it serves until it is stopped", async () => {
  const place = freshPlace();
  mkdirSync(temporaryFiles(place));
  const child = startHandrail(place, ["start"], { environment: { TMPDIR: temporaryFiles(place) } });
  const output = collect(child);
  await until(() => output().stdout.includes("press Ctrl-C to stop"));
  const socket = /serving framed requests on (\S+)/.exec(output().stdout)?.[1] ?? "";
  expect(statSync(socket).isSocket()).toBe(true);
  child.kill("SIGINT");
  await until(() => child.exitCode !== null || child.signalCode !== null);
  expect([child.exitCode, everything(temporaryFiles(place))]).toEqual([0, []]);
});

test("a workspace that does not exist is refused with what to do", async () => {
  const place = freshPlace();
  const missing = join(place.base, "nowhere");
  const { code, stderr } = await handrail(place, ["start", "--once", "--workspace", missing, "--state", place.state]);
  expect([code, linesOf(stderr)]).toEqual([
    64,
    [`handrail: the workspace \`${missing}\` does not exist; create it or name another directory`],
  ]);
});
