/**
 * The kill switch over processes: several kernels of one agent share one alarm, a freeze outlives them, and ends what
 * runs.
 */
import { symlinkSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { collect, dataIn, handrail, linesOf, startHandrail, until } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { lockOf } from "../../../support/file-lock.ts";
import { factsOf } from "../../../support/mcp-result.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { connectRpc, type RpcClient } from "../../../support/rpc-client.ts";

const reasonOf = (answer: Awaited<ReturnType<RpcClient["call"]>>) =>
  answer.isError ? factsOf(answer).error?.["code"] : "ok";
const violate = async (client: RpcClient) => reasonOf(await client.call("read_file", { path: "../outside" }));
const read = async (client: RpcClient) => reasonOf(await client.call("list_files", { path: "." }));

async function sessionsOf(place: Place) {
  const { stdout } = await handrail(place, ["sessions", "list", "--json"]);
  return dataIn<readonly { readonly id: string; readonly agentId: string }[]>(stdout);
}

test("two kernels of one agent have five violations together, a restarted one stays frozen, and resuming lets it go on", async () => {
  const place = freshPlace();
  const [left, right, other] = await Promise.all([
    connectRpc(place),
    connectRpc(place),
    connectRpc(place, ["--agent", "other"]),
  ]);
  for (const client of [left, right, left, right, left]) expect(await violate(client)).toBe("WORKSPACE_PATH_TRAVERSAL");
  expect([await read(left), await read(right)]).toEqual(["ok", "ok"]);
  expect(await violate(right)).toBe("WORKSPACE_PATH_TRAVERSAL");
  expect([await read(left), await read(right), await read(other)]).toEqual(["SESSION_FROZEN", "SESSION_FROZEN", "ok"]);
  const restarted = await connectRpc(place);
  expect(await read(restarted)).toBe("SESSION_FROZEN");

  const [session] = (await sessionsOf(place)).filter(({ agentId }) => agentId === "test");
  const id = session?.id ?? "";
  const review = dataIn<{
    freeze: object;
    violations: object[];
    calls: { problem?: string }[];
    liveSessions: string[];
  }>((await handrail(place, ["sessions", "review", id, "--json"])).stdout);
  expect(review.freeze).toMatchObject({
    cause: "alert",
    target: { scope: "workspace", agentId: "test", serviceRoot: place.workspace },
  });
  expect(review.violations).toHaveLength(6);
  expect(review.calls.map(({ problem }) => problem)).toContain("session_frozen");
  expect(review.liveSessions).toHaveLength(3);
  const printed = await handrail(place, ["sessions", "review", id]);
  expect(printed.stdout).toContain("by the alarm: more than 5 violations within a minute");

  const resumed = await handrail(place, ["sessions", "resume", id, "--reason", "looked at it", "--json"]);
  expect(dataIn(resumed.stdout)).toMatchObject({ session: { id }, lifted: [{ cause: "alert" }] });
  expect([await read(left), await read(right), await read(restarted)]).toEqual(["ok", "ok", "ok"]);
  for (let count = 0; count < 5; count += 1) await violate(left);
  expect(await read(left)).toBe("ok");

  const evidence = await readEvidence(place.state);
  const types = evidence.map(({ entry }) => entry.eventType);
  expect(types.filter((type) => type === "workspace_violation")).toHaveLength(11);
  for (const type of ["alert_mode", "frozen", "resumed"])
    expect(types.filter((found) => found === type)).toHaveLength(1);
  expect(evidence.find(({ entry }) => entry.eventType === "resumed")?.payload).toMatchObject({
    reason: "looked at it",
    severity: "warning",
  });
});

describe("`handrail kill`", () => {
  /** An edit that waits for a lock which nobody gives back. */
  async function waiting(place: Place, client: RpcClient) {
    place.put("workspace/held.txt", "held\n");
    await lockOf(place, "held.txt");
    const edits = [{ operation: "replace", spec: "held", content: "changed" }];
    const answer = client.call("edit_file", { path: "held.txt", edits });
    await until(async () => (await readEvidence(place.state)).some(({ entry }) => entry.intent));
    return answer;
  }

  test("--all ends what runs in another process, refuses everybody, and works without a configuration that loads", async () => {
    const place = freshPlace();
    const client = await connectRpc(place);
    const running = waiting(place, client);
    await until(async () => (await readEvidence(place.state)).some(({ entry }) => entry.intent));
    place.put("config/handrail.yaml", "no_such_key: 1\n");
    const killed = await handrail(place, ["kill", "--all", "--reason", "something is wrong", "--json"]);
    expect(dataIn(killed.stdout)).toMatchObject({
      target: { scope: "all" },
      cause: "operator",
      reason: "something is wrong",
    });
    expect(reasonOf(await running)).toBe("SESSION_FROZEN");
    expect(await read(client)).toBe("SESSION_FROZEN");
    expect((await handrail(place, ["resume", "--all"])).stdout).toBe("resumed: everybody\n");
    expect(await read(client)).toBe("ok");
    const evidence = await readEvidence(place.state);
    const closes = evidence.filter(({ entry }) => entry.closes > 0);
    expect(closes.map(({ entry, payload }) => [entry.eventType, payload["reason"]])).toEqual([
      ["tool_execution_denied", "session_frozen"],
    ]);
    expect(evidence.find(({ entry }) => entry.eventType === "killed")?.payload).toMatchObject({
      scope: "all",
      severity: "critical",
    });
  });

  test("names whom: an agent in every workspace or in one, or the agent of a session; others go on", async () => {
    const place = freshPlace();
    const [one, two] = await Promise.all([
      connectRpc(place, ["--agent", "one"]),
      connectRpc(place, ["--agent", "two"]),
    ]);
    const sessions = await sessionsOf(place);
    const idOf = (name: string) => sessions.find(({ agentId }) => agentId === name)?.id ?? "";
    expect((await handrail(place, ["kill", "--session", idOf("one")])).stdout).toMatch(
      /\/one in .*\/workspace {2}frozen since /,
    );
    expect([await read(one), await read(two)]).toEqual(["SESSION_FROZEN", "ok"]);
    expect((await handrail(place, ["sessions", "resume", idOf("one")])).code).toBe(0);
    expect(await read(one)).toBe("ok");
    const principal =
      (await readEvidence(place.state)).find(({ entry }) => entry.actor.endsWith("/one"))?.entry.actor ?? "";
    for (const more of [[], ["--workspace", place.outside], ["--workspace", place.workspace]]) {
      const frozen = more[1] !== place.outside;
      expect((await handrail(place, ["kill", "--principal", principal, ...more])).code).toBe(0);
      expect([await read(one), await read(two)]).toEqual([frozen ? "SESSION_FROZEN" : "ok", "ok"]);
      expect((await handrail(place, ["resume", "--principal", principal, ...more])).code).toBe(0);
    }
    expect((await handrail(place, ["sessions", "freeze", idOf("two")])).code).toBe(0);
    expect([await read(one), await read(two)]).toEqual(["ok", "SESSION_FROZEN"]);
    const all = await handrail(place, ["sessions", "review"]);
    expect(linesOf(all.stdout)).toEqual([expect.stringContaining(`${idOf("two")}  frozen`)]);
  });

  test("of an agent that has no session says so, because a misspelt name stops nobody", async () => {
    const place = freshPlace();
    const client = await connectRpc(place, ["--agent", "one"]);
    expect(await read(client)).toBe("ok");
    const principal = `${userInfo().username}/one`;
    const misspelt = await handrail(place, ["kill", "--principal", `${principal}x`]);
    expect([misspelt.code, misspelt.stderr]).toEqual([
      0,
      expect.stringContaining("has no session here, so look whether the name is right"),
    ]);
    expect(await read(client)).toBe("ok");
    const meant = await handrail(place, ["kill", "--principal", principal, "--workspace", place.workspace]);
    expect([meant.code, meant.stderr]).toEqual([0, ""]);
    expect(await read(client)).toBe("SESSION_FROZEN");
  });

  test("a revoked session's running call ends too", async () => {
    const place = freshPlace();
    const client = await connectRpc(place);
    const [session] = await sessionsOf(place); // before: a lock is waited for some seconds only
    const running = waiting(place, client);
    await until(async () => (await readEvidence(place.state)).some(({ entry }) => entry.intent));
    expect((await handrail(place, ["sessions", "revoke", session?.id ?? ""])).code).toBe(0);
    expect(reasonOf(await running)).toBe("SESSION_REVOKED");
  });

  test.each([
    [["kill"], "say whom: one of"],
    [["kill", "--all", "--session", "ses_x"], "say whom: one of"],
    [["kill", "--all", "--workspace", "."], "goes together with"],
    [["kill", "--principal", "nobody"], "write USER/AGENT"],
    [["kill", "--session", "ses_x"], "there is no session `ses_x`"],
    [["sessions", "freeze", "ses_x"], "there is no session `ses_x`"],
    [["sessions", "resume", "ses_x"], "there is no session `ses_x`"],
    [["resume", "--all"], "nothing is frozen there"],
  ])("%j is refused: %s", async (args, message) => {
    const { code, stderr } = await handrail(freshPlace(), args);
    expect([code, stderr]).toEqual([64, expect.stringContaining(message)]);
  });
});

describe("the security audit", () => {
  test("shows violations in Flow's shape, and what else matters, from when and how severe one likes", async () => {
    const place = freshPlace();
    const client = await connectRpc(place);
    for (let count = 0; count < 6; count += 1) await violate(client);
    await read(client);
    const events = async (...more: string[]) =>
      linesOf((await handrail(place, ["audit", "tail", "-n", "1000", "--json", ...more])).stdout).map((line) =>
        dataIn<{ readonly event: string }>(`${line}\n`),
      );
    const all = await events();
    expect(all.find(({ event }) => event === "workspace_violation")).toEqual({
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      agent_id: expect.stringMatching(/^test#\d+$/),
      violation_type: "workspace_path_traversal",
      target_path: join(dirname(place.workspace), "outside"),
      command_args: [],
      event: "workspace_violation",
      severity: "warning",
      sequence: expect.any(Number),
      session_id: expect.stringMatching(/^ses_/),
      actor: expect.stringMatching(/\/test$/),
      request_id: expect.any(String),
      details: {},
    });
    const counts = new Map<string, number>();
    for (const { event } of all) counts.set(event, (counts.get(event) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toMatchObject({
      workspace_violation: 6,
      tool_execution_denied: 7,
      alert_mode: 1,
      frozen: 1,
    });
    expect((await events("--severity", "critical")).map(({ event }) => event).sort()).toEqual(["alert_mode", "frozen"]);
    expect(await events("--since", "1h")).toEqual(all);
    expect(await events("--since", "2099-01-01")).toEqual([]);
    expect(linesOf((await handrail(place, ["audit", "tail", "-n", "2"])).stdout)).toHaveLength(2);
    expect((await handrail(place, ["audit", "tail", "--since", "yesterday"])).stderr).toContain("is no time");
  });

  test("is followed as it grows, and ends when it is told to", async () => {
    const place = freshPlace();
    const client = await connectRpc(place);
    await read(client);
    const follower = startHandrail(place, ["audit", "tail", "--follow", "--json", "--severity", "warning"]);
    const output = collect(follower);
    await violate(client);
    await until(() => output().stdout.includes("workspace_violation"));
    await violate(client);
    await until(() => output().stdout.split('"event":"workspace_violation"').length === 3);
    const ended = new Promise((done) => follower.once("close", done));
    follower.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(output().stderr).toBe("");
  });

  test("lies out of every tool's reach, also when the state directory lies in the workspace", async () => {
    const place = freshPlace();
    const inside = { ...place, state: join(place.workspace, "kept/state") };
    place.put("config/handrail.yaml", "alert: { freeze: false }\npreset: open\n");
    place.put("workspace/plain/ledger.db", "not the ledger\n");
    const client = await connectRpc(inside, ["--preset", "open"]);
    symlinkSync(join(inside.state, "ledger.db"), join(place.workspace, "link.db"));
    symlinkSync(inside.state, join(place.workspace, "linked"));
    const edits = [{ operation: "delete", spec: "a" }];
    for (const path of [
      "kept/state/ledger.db",
      "plain/../kept/state/ledger.db",
      "link.db",
      "linked/ledger.db",
      "kept/state/bells/freezes",
    ]) {
      for (const [tool, args] of [
        ["read_file", { path }],
        ["write_file", { path, content: "" }],
        ["edit_file", { path, edits }],
        ["delete_file", { path }],
        ["search_file", { path, regex: "violation" }],
      ] as const) {
        const answer = await client.call(tool, args);
        expect([tool, path, reasonOf(answer)]).toEqual([tool, path, expect.stringMatching(/^WORKSPACE_/)]);
      }
    }
    expect(reasonOf(await client.call("list_files", { path: "kept/state" }))).toMatch(/^WORKSPACE_/);
    const listed = JSON.stringify(await client.call("list_files", { path: ".", recursive: true }));
    expect(listed).not.toContain("violations.db");
    const found = JSON.stringify(await client.call("search_file", { path: ".", regex: "SQLite format" }));
    expect(found).not.toContain("kept/state");
    // Control: a file of the same name elsewhere is a file like any other.
    expect(reasonOf(await client.call("read_file", { path: "plain/ledger.db" }))).toBe("ok");
    expect((await readEvidence(inside.state)).length).toBeGreaterThan(20);
  });
});
