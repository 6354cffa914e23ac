// People decide from the command line, in another process than the kernel that asks.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { newId, systemRandom } from "../../src/base/ids.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { addApprover, saveApproverToken } from "../../src/server/approver-credentials.ts";
import { openKernel } from "../../src/server/compose.ts";
import { collect, environmentOf, handrail, linesOf, MAIN, oneJsonLine, startHandrail, until } from "../support/command-line.ts";
import { freshPlace, type Place } from "../support/place.ts";

const ESC = String.fromCharCode(27);
type Listed = readonly { readonly approval_ref: string; readonly state: string; readonly request: { readonly summary: string } }[];

/** A kernel that asks, an approver whose credential the command line finds, and a way to make calls. */
async function asking(place: Place) {
  const warnings: string[] = [];
  const kernel = await openKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: { HOME: place.home },
    onWarning: (warning) => void warnings.push(warning),
  });
  onTestFinished(() => kernel.close());
  await saveApproverToken(place.config, await addApprover(place.state, "ada", systemRandom));
  const minted = await kernel.administration.createSession({
    workspace: place.workspace,
    userId: "bob",
    agentId: "helper",
    askedBy: "operator",
  });
  const call = (tool: string, args: JsonObject) =>
    kernel.door.execute(
      { kind: "call", requestId: newId("req", systemRandom), sessionToken: minted.token, tool, arguments: args },
      new AbortController().signal,
    );
  /** The one request that waits. */
  const waiting = async (): Promise<string> => {
    let ref: string | undefined;
    await until(async () => {
      ref = (await kernel.approvals.list({ state: "pending" }))[0]?.ref;
      return ref !== undefined;
    });
    return ref ?? "";
  };
  return { kernel, call, waiting, minted };
}

const short = (ref: string) => ref.slice("blake3:".length, "blake3:".length + 12);

test("a request is listed, shown in full, approved, and the waiting call goes on", async () => {
  const place = freshPlace();
  place.put("workspace/AGENTS.md", "be kind\n");
  const { call, waiting } = await asking(place);
  const answer = call("write_file", { path: "AGENTS.md", content: `be kind\nand${ESC}[2Jbrief\n` });
  const ref = await waiting();

  const listed = await handrail(place, ["approvals", "list", "--json"]);
  expect(oneJsonLine<Listed>(listed.stdout)).toMatchObject([
    { approval_ref: ref, state: "pending", request: { tool: "write_file", summary: "`write_file`: write 1 protected file" } },
  ]);
  expect(listed.stdout).not.toContain('"code"');
  const table = await handrail(place, ["approvals"]);
  expect(linesOf(table.stdout)[1]).toMatch(
    new RegExp(`^${short(ref)}  bob   \`write_file\`: write 1 protected file  pending, asked \\d+s ago`),
  );

  const shown = await handrail(place, ["approvals", "show", short(ref)]);
  expect(shown.stdout).toContain("│ +and⟨U+001B⟩[2Jbrief\n");
  expect(shown.stdout).toContain("# asked by\n  dev.write-protected: people's tools execute or obey this file\n");
  expect(shown.stdout).not.toContain(ESC);

  const approved = await handrail(place, ["approve", short(ref), "--reason", "fine"]);
  expect([approved.code, approved.stderr]).toEqual([0, ""]);
  expect(approved.stdout).toContain(shown.stdout.split("# the request")[0]);
  expect(approved.stdout).toMatch(/is approved, asked \d+s ago; approved for one execution by ada over cli 0s ago: fine\n$/);
  expect((await answer).outcome).toMatchObject({ kind: "success" });
  expect(readFileSync(join(place.workspace, "AGENTS.md"), "utf8")).toContain("brief");
});

test("a denial ends the call with the reason; a second answer is told what stands", async () => {
  const place = freshPlace();
  const { call, waiting } = await asking(place);
  const answer = call("write_file", { path: "AGENTS.md", content: "x" });
  const ref = await waiting();
  const denied = await handrail(place, ["deny", ref, "--reason", "not today", "--json"]);
  expect([denied.code, oneJsonLine(denied.stdout)]).toMatchObject([0, { decided: true, by: "ada", state: "denied" }]);
  expect((await answer).outcome).toMatchObject({ kind: "denied", denial: { reason: "tool_approval_denied", approvalRef: ref } });
  const late = await handrail(place, ["approve", ref]);
  expect([late.code, late.stderr]).toEqual([1, expect.stringMatching(/^handrail: nothing was changed: \w+ is denied,.*: not today\n$/)]);
  expect(existsSync(join(place.workspace, "AGENTS.md"))).toBe(false);
});

describe("a decision is refused", () => {
  test("without a credential, with a wrong one, for a reference that is none, and for a scope that is none", async () => {
    const place = freshPlace();
    const { call, waiting, minted, kernel } = await asking(place);
    const answer = call("write_file", { path: "AGENTS.md", content: "x" });
    const ref = await waiting();
    const as = async (token: string, args: readonly string[]) => {
      const { code, stderr } = await handrail(place, args, { environment: { HANDRAIL_APPROVER_TOKEN: token } });
      return [code, stderr];
    };
    const wrong = "handrail: this is no approver's credential; make one with `handrail approvers add NAME --save`\n";
    expect(await as(`apr_ada.${"A".repeat(43)}`, ["approve", ref])).toEqual([1, wrong]);
    expect(await as(minted.token, ["approve", ref])).toEqual([1, wrong]);
    const none = await handrail(place, ["approve", ref], { environment: { HANDRAIL_CONFIG_HOME: join(place.base, "nowhere") } });
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("approving needs an approver's credential")]);
    expect((await handrail(place, ["approve", "ffffffff"])).stderr).toContain("there is no request `ffffffff`");
    expect((await handrail(place, ["approve", ref, "--for", "ever"])).stderr).toContain("`ever` is no scope");
    expect((await kernel.approvals.list({ state: "pending" })).map((one) => one.ref)).toEqual([ref]);
    await handrail(place, ["deny", ref]);
    expect((await answer).outcome.kind).toBe("denied");
  });
});

test("an approval for the session lets the same call through again without asking", async () => {
  const place = freshPlace();
  place.put("workspace/AGENTS.md", "x");
  const { call, waiting } = await asking(place);
  await call("read_file", { path: "AGENTS.md" }); // an approval is bound to what the agent has seen
  const first = call("edit_file", { path: "AGENTS.md", edits: [{ operation: "replace", spec: "x", content: "x" }] });
  const ref = await waiting();
  expect((await handrail(place, ["approve", ref, "--for", "session", "--json"])).code).toBe(0);
  expect((await first).outcome.kind).toBe("success");
  const again = await call("edit_file", { path: "AGENTS.md", edits: [{ operation: "replace", spec: "x", content: "x" }] });
  expect(again.outcome.kind).toBe("success");
});

test("`watch` without a terminal prints one line for each request and for each change", async () => {
  const place = freshPlace();
  const { call, waiting } = await asking(place);
  const watch = startHandrail(place, ["approvals", "watch", "--json"]);
  const output = collect(watch);
  const answer = call("write_file", { path: "AGENTS.md", content: "x" });
  const ref = await waiting();
  await until(() => linesOf(output().stdout).length === 1);
  await handrail(place, ["deny", ref]);
  await until(() => linesOf(output().stdout).length === 2);
  expect(linesOf(output().stdout).map((line) => JSON.parse(line) as Listed[number])).toMatchObject([
    { approval_ref: ref, state: "pending" },
    { approval_ref: ref, state: "denied" },
  ]);
  await answer;
  watch.kill("SIGTERM");
  await until(() => watch.exitCode !== null);
  expect([watch.exitCode, output().stderr]).toEqual([0, ""]);
});

/** `handrail` on a terminal of 100 columns and 30 rows; what it draws, and its keys. */
function onTerminal(place: Place, args: string) {
  const command = `stty cols 100 rows 30; exec ${process.execPath} --disable-warning=ExperimentalWarning ${MAIN} ${args}`;
  const child = spawn("script", ["-qec", command, "/dev/null"], { env: { ...environmentOf(place), TERM: "xterm" }, cwd: place.workspace });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = collect(child);
  /** What the last frame shows, without colours. */
  const screen = () => (output().stdout.split(`${ESC}[H`).at(-1) ?? "").replaceAll(new RegExp(`${ESC}\\[[0-9;?]*[A-Za-z]`, "g"), "");
  return {
    child,
    output,
    shows: (text: string) => until(() => screen().includes(text)),
    press: (keys: string) => void child.stdin.write(keys),
    ended: () => until(() => child.exitCode !== null),
  };
}

test("`watch` on a terminal shows requests as they come, and decides them with the keyboard", async () => {
  const place = freshPlace();
  const { call, waiting, kernel } = await asking(place);
  const watch = onTerminal(place, "approvals watch");
  await watch.shows("nothing waits for an answer");
  const first = call("write_file", { path: "AGENTS.md", content: `a${ESC}[2Jb\n` });
  await watch.shows("1 waiting");
  watch.press("a");
  await watch.shows("press enter first");
  watch.press("\r");
  await watch.shows("│ +a⟨U+001B⟩[2Jb");
  watch.press("G");
  await watch.shows("-- end --");
  watch.press("a");
  await watch.shows("approved for one execution");
  expect((await first).outcome.kind).toBe("success");

  const second = call("write_file", { path: "CLAUDE.md", content: "x" });
  const ref = await waiting();
  await watch.shows("1 waiting");
  watch.press("\r");
  await watch.shows("CLAUDE.md");
  watch.press("d");
  await watch.shows("reason to deny");
  for (const key of "no") watch.press(key);
  watch.press("\r");
  await watch.shows("denied");
  expect((await second).outcome).toMatchObject({ kind: "denied", denial: { approvalRef: ref } });
  expect(await kernel.approvals.find(ref)).toMatchObject({ approval: { state: "denied", decision: { by: "ada", reason: "no" } } });
  watch.press("q");
  await watch.ended();
  expect(watch.child.exitCode).toBe(0);
  expect(watch.output().stdout).toContain(`${ESC}[?25h${ESC}[?1049l`);
});

test("on a terminal, approving asks first: no leaves the request, yes decides it", async () => {
  const place = freshPlace();
  const { call, waiting, kernel } = await asking(place);
  const answer = call("write_file", { path: "AGENTS.md", content: "x" });
  const ref = await waiting();
  const hesitant = onTerminal(place, `approve ${ref}`);
  await hesitant.shows("approve this for one execution? [y/N]");
  hesitant.press("n\r");
  await hesitant.ended();
  expect(hesitant.child.exitCode).toBe(1);
  expect(await kernel.approvals.find(ref)).toMatchObject({ approval: { state: "pending" } });
  const certain = onTerminal(place, `approve ${ref}`);
  await certain.shows("[y/N]");
  certain.press("y\r");
  await certain.ended();
  expect((await answer).outcome.kind).toBe("success");
});

test("always allow: proposed with what it would have allowed, written only when told to, in force for the next call", async () => {
  const place = freshPlace();
  place.put("workspace/AGENTS.md", "x");
  mkdirSync(join(place.config, "policy"), { mode: 0o700 });
  const { call, waiting, kernel } = await asking(place);
  const answer = call("write_file", { path: "AGENTS.md", content: "y" });
  const ref = await waiting();
  await handrail(place, ["deny", ref]);
  expect((await answer).outcome.kind).toBe("denied");

  const proposed = await handrail(place, ["approvals", "always", ref]);
  expect([proposed.code, proposed.stderr]).toEqual([0, ""]);
  expect(proposed.stdout).toContain('│ @waives("dev.write-protected")\n');
  expect(proposed.stdout).toContain("past calls that it would have allowed: 1 of");
  expect(proposed.stdout).toMatch(/write_file needed ask\s+dev.write-protected\n│ write AGENTS.md/);
  expect(readdirSync(join(place.config, "policy"))).toEqual([]);

  const written = await handrail(place, ["approvals", "always", ref, "--write"]);
  expect([written.code, written.stderr]).toEqual([0, ""]);
  const [file = ""] = readdirSync(join(place.config, "policy"));
  expect(readFileSync(join(place.config, "policy", file), "utf8")).toContain(`// ${ref}. Remove this file to be asked again.`);
  await until(async () => (await call("write_file", { path: "AGENTS.md", content: "y" })).outcome.kind === "success");
  const other = call("write_file", { path: "CLAUDE.md", content: "y" });
  const otherRef = await waiting();
  await handrail(place, ["deny", otherRef]);
  expect((await other).outcome.kind).toBe("denied");
  const again = await handrail(place, ["approvals", "always", ref]);
  expect([again.code, again.stdout]).toEqual([1, expect.stringContaining("no rule in force asks about it any more")]);
  expect(kernel.operator.policies.map(({ name }) => name)).toEqual([file]);
});
