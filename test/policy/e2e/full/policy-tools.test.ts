/**
 * Policy tooling as its users meet it: hot reload under running servers, examples, advice that works, replay, trust.
 */
import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fillTemplate, seededRandom } from "../../../../src/redact/kinds/samples.ts";
import { dataIn, handrail, linesOf, oneJsonLine, until } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { lockOf } from "../../../support/file-lock.ts";
import { factsOf } from "../../../support/mcp-result.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { type CallAnswer, connectRpc, type RpcClient } from "../../../support/rpc-client.ts";

const forbid = (path: string) =>
  `@id("own.no-${path.replace(/\W/g, "")}")\n@message("leave it alone")\nforbid (principal, action, resource is Handrail::File)\nwhen { resource.path like "${path}*" };\n`;
const ruleOf = (answer: CallAnswer) => factsOf(answer).error?.["rule_id"] ?? factsOf(answer).status;
const { text: SECRET } = fillTemplate("ghp_{checked}", seededRandom(3));
const readRule = async (client: RpcClient, path: string) => ruleOf(await client.call("read_file", { path }));

async function callOf(place: Place, tool: string, args: object, ...more: string[]) {
  const { code, stdout } = await handrail(place, ["call", tool, "--json", JSON.stringify(args), ...more]);
  return [code, oneJsonLine<{ error?: { rule_id: string } }>(stdout).error?.rule_id];
}

async function json<Shape>(
  place: Place,
  args: readonly string[],
): Promise<{ readonly code: number | string; readonly value: Shape }> {
  const { code, stdout } = await handrail(place, [...args, "--json"]);
  return { code, value: dataIn<Shape>(stdout) };
}

describe("hot reload", () => {
  test("reaches every running server; a bad change is refused with its place and the old policy stays", async () => {
    const place = freshPlace();
    place.put("workspace/a.txt", "a");
    place.put("workspace/b.txt", "b");
    const clients = [await connectRpc(place), await connectRpc(place)];
    const rules = (path: string) => Promise.all(clients.map((client) => readRule(client, path)));
    expect(await rules("a.txt")).toEqual(["success", "success"]);
    place.put("config/policy/own.new", forbid("a"));
    renameSync(join(place.config, "policy/own.new"), join(place.config, "policy/own.cedar"));
    await until(async () => (await rules("a.txt")).every((rule) => rule === "own.no-a"));
    place.put("config/policy/own.cedar", `${forbid("b")}permit (\n`);
    await until(() => clients.every((client) => /policy\/own\.cedar:\d+:\d+: /.test(client.stderr())));
    expect([await rules("a.txt"), await rules("b.txt")]).toEqual([
      ["own.no-a", "own.no-a"],
      ["success", "success"],
    ]);
    // The example first: a look between the two must not find the new policy without it.
    place.put("config/policy/own.test.yaml", "- allow: read_file\n  arguments: { path: b.txt }\n");
    place.put("config/policy/own.cedar", forbid("b"));
    await until(() =>
      clients.every((client) =>
        /policy\/own\.test\.yaml:1:3: .*should be allowed, but is denied by own\.no-b/.test(client.stderr()),
      ),
    );
    expect(await rules("b.txt")).toEqual(["success", "success"]);
    place.put("config/policy/own.test.yaml", "- deny: read_file\n  arguments: { path: b.txt }\n  by: own.no-b\n");
    await until(async () => (await rules("b.txt")).every((rule) => rule === "own.no-b"));
    for (const client of clients) client.process.stdin.end();
    await Promise.all(clients.map(({ ended }) => ended));
    const evidence = await readEvidence(place.state);
    const of = (type: string) => evidence.filter(({ entry }) => entry.eventType === type);
    expect(of("policy_rejected").length).toBeGreaterThanOrEqual(4);
    for (const { entry, payload } of of("policy_loaded").filter((one) => one.payload["previous"] !== undefined)) {
      const before = of("policy_loaded").filter(
        (one) => one.entry.instanceId === entry.instanceId && one.entry.sequence < entry.sequence,
      );
      expect(before.at(-1)?.payload["policy"]).toBe(payload["previous"]);
    }
  });

  test.each([
    ["whose policy changed", "config/policy/own.cedar", forbid("unrelated"), "POLICY:changed", "policy reloaded"],
    [
      "whose zones changed",
      "config/handrail.yaml",
      "files: { read_only: [a.txt] }\n",
      "WORKSPACE:changed",
      "files changed",
    ],
    [
      "whose tool was switched off",
      "config/handrail.yaml",
      "tools: { disabled: [edit_file] }\n",
      "GATE:edit_file",
      "tools changed",
    ],
  ])("a call in flight %s is refused before its effect", async (_what, file, text, rule, told) => {
    const place = freshPlace();
    place.put("workspace/a.txt", "old");
    const client = await connectRpc(place);
    expect(await readRule(client, "a.txt")).toBe("success");
    const release = await lockOf(place, "a.txt");
    const edit = { path: "a.txt", edits: [{ operation: "replace", match_mode: "exact", spec: "old", content: "new" }] };
    const waiting = client.call("edit_file", edit);
    place.put(file, text);
    await until(() => client.stderr().includes(told));
    await release();
    expect(ruleOf(await waiting)).toBe(rule);
    expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("old");
  });

  test("switches of handrail.yaml take effect, and so does a workspace's own file", async () => {
    const place = freshPlace();
    place.put("workspace/a.txt", "a");
    // looking again and again at what is refused would freeze the session otherwise
    const configure = (text: string) => place.put("config/handrail.yaml", `alert: { freeze: false }\n${text}`);
    configure("");
    const client = await connectRpc(place);
    expect(await readRule(client, "a.txt")).toBe("success");
    configure("files: { secret: [a.txt] }\n");
    await until(async () => (await readRule(client, "a.txt")) === "ZONE:secret");
    configure("tools: { enabled: false }\n");
    await until(async () => (await readRule(client, "a.txt")) === "GATE:master");
    configure("");
    await until(async () => (await readRule(client, "a.txt")) === "success");
    place.put("workspace/handrail.yaml", "tools: { disabled: [read_file] }\n");
    await until(async () => (await readRule(client, "a.txt")) === "WORKSPACE:read_file");
  });
});

describe("policy test", () => {
  test("runs the examples of the operator or of a candidate, and ends with 1 when one fails", async () => {
    const place = freshPlace();
    place.put("config/policy/own.cedar", forbid("docs/"));
    place.put(
      "config/policy/own.test.yaml",
      "- deny: read_file\n  arguments: { path: docs/a }\n- allow: read_file\n  arguments: { path: a }\n",
    );
    const good = await handrail(place, ["policy", "test"]);
    expect([good.code, linesOf(good.stdout).map((line) => line.slice(0, 5))]).toEqual([
      0,
      ["ok   ", "ok   ", "2 exa", expect.any(String)],
    ]);
    place.put("candidate/own.cedar", "");
    place.put("candidate/own.test.yaml", "- deny: read_file\n  arguments: { path: docs/a }\n");
    const bad = await handrail(place, ["policy", "test", join(place.base, "candidate")]);
    expect([bad.code, linesOf(bad.stdout)[0]]).toEqual([
      1,
      expect.stringMatching(/^FAIL {2}policy\/own\.test\.yaml:1:3: .*is allowed by dev\.read-files$/),
    ]);
    const report = await json<{ ok: boolean; own: { results: { ok: boolean }[] } }>(place, [
      "policy",
      "test",
      join(place.base, "candidate"),
    ]);
    expect([report.code, report.value.ok, report.value.own.results.map(({ ok }) => ok)]).toEqual([1, false, [false]]);
  });

  test.each([
    ["a sidecar without a policy", "lost.test.yaml", /has no `lost\.cedar` beside it/],
    ["a sidecar that would not be read", "own.test.yml", /call it `own\.test\.yaml`/],
  ])("%s is refused", async (_what, name, problem) => {
    const place = freshPlace();
    place.put("config/policy/own.cedar", forbid("docs/"));
    place.put(`config/policy/${name}`, "- deny: read_file\n  arguments: { path: docs/a }\n");
    const { code, stderr } = await handrail(place, ["policy", "test"]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(problem)]);
  });

  test("a failing example refuses every call at the start, and policy check names it", async () => {
    const place = freshPlace();
    place.put("workspace/a", "a");
    place.put("config/policy/own.cedar", forbid("docs/"));
    place.put("config/policy/own.test.yaml", "- deny: read_file\n  arguments: { path: a }\n");
    expect(await callOf(place, "read_file", { path: "a" })).toEqual([2, "CONFIG:policy_invalid"]);
    const check = await handrail(place, ["policy", "check"]);
    expect([check.code, check.stdout]).toEqual([1, expect.stringMatching(/^policy\/own\.test\.yaml:1:3: /m)]);
  });
});

interface Explained {
  readonly runs: boolean;
  readonly advice: readonly { readonly kind: string; readonly change: string; readonly text?: string }[];
  readonly stuck?: string;
}

const explained = async (place: Place, tool: string, args: object, ...more: string[]) =>
  (await json<Explained>(place, ["policy", "explain", tool, "--arguments", JSON.stringify(args), ...more])).value;

describe("the advice of policy explain", () => {
  test("is a permit that works when it is pasted, for exactly the call", async () => {
    const place = freshPlace();
    place.put("workspace/a.txt", "a");
    const edit = { path: "a.txt", edits: [{ operation: "replace", match_mode: "exact", spec: "a", content: "b" }] };
    expect(await callOf(place, "edit_file", edit, "--preset", "reader")).toEqual([2, "DEFAULT_DENY"]);
    const { advice } = await explained(place, "edit_file", edit, "--preset", "reader");
    expect(advice.map(({ kind }) => kind)).toEqual(["permit"]);
    place.put("config/policy/pasted.cedar", advice[0]?.text ?? "");
    expect(await callOf(place, "edit_file", edit, "--preset", "reader")).toEqual([0, undefined]);
    expect(await callOf(place, "write_file", { path: "a.txt", content: "" }, "--preset", "reader")).toEqual([
      2,
      "DEFAULT_DENY",
    ]);
    expect((await explained(place, "edit_file", edit, "--preset", "reader")).runs).toBe(true);
  });

  test("is a waiver where something is asked for, and it works when it is pasted", async () => {
    const place = freshPlace();
    const write = { path: "CLAUDE.md", content: "x" };
    const { advice } = await explained(place, "write_file", write);
    expect(advice).toEqual([
      { kind: "waiver", change: expect.any(String), text: expect.stringContaining('@waives("dev.write-protected")') },
    ]);
    place.put("config/policy/pasted.cedar", advice[0]?.text ?? "");
    expect(await callOf(place, "write_file", write)).toEqual([0, undefined]);
    expect(await callOf(place, "write_file", { ...write, path: "AGENTS.md" })).toEqual([2, "dev.write-protected"]);
  });

  test("is an exception to the operator's own rule, with the example that stands against it", async () => {
    const place = freshPlace();
    place.put("workspace/docs/a", "a");
    place.put("config/policy/own.cedar", forbid("docs/"));
    place.put("config/policy/own.test.yaml", "- deny: read_file\n  arguments: { path: docs/a }\n");
    const { advice } = await explained(place, "read_file", { path: "docs/a" });
    expect(advice.map(({ kind, change }) => [kind, change])).toEqual([
      ["exception", expect.stringContaining("policy/own.cedar:1")],
      ["example", expect.stringContaining("policy/own.test.yaml:1:3")],
    ]);
    place.put("config/policy/own.cedar", forbid("docs/").replace(/;\n$/, `\n${advice[0]?.text};\n`));
    expect(await callOf(place, "read_file", { path: "docs/a" })).toEqual([2, "CONFIG:policy_invalid"]);
    place.put("config/policy/own.test.yaml", "- deny: read_file\n  arguments: { path: docs/b }\n");
    expect(await callOf(place, "read_file", { path: "docs/a" })).toEqual([0, undefined]);
  });

  test("is all settings that stand in the way, together", async () => {
    const place = freshPlace();
    place.put("workspace/keys/a", "a");
    place.put("config/handrail.yaml", "files: { secret: [keys] }\ntools: { disabled: [read_file] }\n");
    place.put("workspace/handrail.yaml", "files: { secret: ['keys/*'] }\n");
    const { advice } = await explained(place, "read_file", { path: "keys/a" });
    expect(advice.map(({ kind, change }) => [kind, change])).toEqual([
      ["setting", `remove \`read_file\` from \`tools.disabled\` in ${place.config}/handrail.yaml`],
      ["setting", `remove \`keys\` from \`files.secret\` in ${place.config}/handrail.yaml`],
      ["setting", `remove \`keys/*\` from \`files.secret\` in ${place.workspace}/handrail.yaml`],
    ]);
    place.put("config/handrail.yaml", "");
    expect(await callOf(place, "read_file", { path: "keys/a" })).toEqual([2, "ZONE:secret"]);
    place.put("workspace/handrail.yaml", "");
    expect(await callOf(place, "read_file", { path: "keys/a" })).toEqual([0, undefined]);
  });

  test("is the dimension and the pattern that a lease lacks", async () => {
    const place = freshPlace();
    const { value } = await json<{ leaseId: string }>(place, [
      "sessions",
      "create",
      "--tools",
      "read_file",
      "--write",
      "docs/**",
    ]);
    const { advice } = await explained(
      place,
      "write_file",
      { path: "src/[a]*.ts", content: "" },
      "--lease",
      value.leaseId,
    );
    expect(advice.map(({ kind, change }) => [kind, change.split(";")[0]])).toEqual([
      ["lease", "use a lease whose `tools` include `write_file`"],
      ["lease", "use a lease whose `writePaths` include `src/\\[a\\]\\*.ts`"],
    ]);
  });

  test.each([
    ["a built-in zone", "read_file", { path: ".env" }, /zone that is built in/],
    ["a path that leaves the workspace", "read_file", { path: "../x" }, /INV-0007/],
    ["a path elsewhere", "read_file", { path: "/etc/hostname" }, /outside of the workspace/],
    ["a tool that does not exist", "fly", {}, /TOOL:unknown/],
    [
      "a shipped rule",
      "write_file",
      { path: "a", content: "" },
      /base\.product-owner-changes-nothing .*ships with Handrail/,
      "--role",
      "product_owner",
    ],
  ] as const)(
    "is none for %s, and the reason is told",
    async (_what, tool, args, reason, ...more: readonly string[]) => {
      const place = freshPlace();
      const { advice, stuck, runs } = await explained(place, tool, args, ...more);
      expect([advice, stuck, runs]).toEqual([[], expect.stringMatching(reason), false]);
    },
  );
});

interface Replay {
  readonly replayed: number;
  readonly changed: Readonly<Record<string, number>>;
  readonly changes: readonly { readonly kind: string; readonly tool: string; readonly accesses: readonly string[] }[];
  readonly notReplayed: Readonly<Record<string, number>>;
}

test("policy diff replays the recorded calls and lists what a candidate would change", async () => {
  const place = freshPlace();
  place.put("workspace/a.txt", "a");
  place.put("workspace/docs/a.md", "a");
  const client = await connectRpc(place);
  await client.call("read_file", { path: "a.txt" });
  await client.call("read_file", { path: "docs/a.md" });
  await client.call("read_file", { path: ".env" });
  await client.call("write_file", { path: "docs/b.md", content: "b" });
  await client.call("write_file", { path: "CLAUDE.md", content: "c" });
  const withSecret = await client.call("write_file", { path: "docs/key.md", content: `key ${SECRET}` });
  expect(ruleOf(withSecret)).toBe("FC:secret-write");
  client.process.stdin.end();
  await client.ended;
  expect(await callOf(place, "write_file", { path: "q", content: "" }, "--preset", "reader")).toEqual([
    2,
    "DEFAULT_DENY",
  ]);
  const same = await json<Replay>(place, ["policy", "diff", place.config]);
  expect([same.code, same.value.replayed, same.value.changes]).toEqual([0, 6, []]);
  expect(same.value.notReplayed).toEqual({ "policy was not asked: another stage refused it first": 1 });
  const candidate = `${forbid("docs/")}@id("own.q") permit (principal, action, resource == Handrail::File::"service:q");
    @id("own.claude") @waives("dev.write-protected") permit (principal, action, resource == Handrail::File::"service:CLAUDE.md");
    @id("own.a") permit (principal, action, resource == Handrail::File::"service:a.txt");`;
  place.put("candidate/policy/own.cedar", candidate);
  const { code, value } = await json<Replay>(place, ["policy", "replay", join(place.base, "candidate")]);
  expect(code).toBe(1);
  expect(value.changes.map(({ kind, tool, accesses }) => [kind, tool, accesses[0]]).sort()).toEqual([
    ["allow to deny", "read_file", "read docs/a.md"],
    ["allow to deny", "write_file", "write docs/b.md"],
    ["allow to deny", "write_file", "write docs/key.md"],
    ["deny to allow", "write_file", "write q"],
    ["obligations", "write_file", "write CLAUDE.md"],
    ["rules", "read_file", "read a.txt"],
  ]);
  const none = await json<Replay>(place, ["policy", "diff", join(place.base, "candidate"), "--since", "2100-01-01"]);
  expect([none.code, none.value.replayed]).toEqual([0, 0]);
  place.put("candidate/policy/own.cedar", "permit (");
  const bad = await handrail(place, ["policy", "diff", join(place.base, "candidate")]);
  expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("policy/own.cedar:1:")]);
});

describe("trust", () => {
  test("lets a workspace's own file share a directory of the project, until the file changes", async () => {
    const place = freshPlace();
    place.put("workspace/service/handrail.yaml", "files: { shared: [libs] }\n");
    const lib = place.put("workspace/libs/a.ts", "a");
    const roots = ["--workspace", join(place.workspace, "service"), "--project", place.workspace];
    const read = () => callOf(place, "read_file", { path: lib }, ...roots);
    const trust = (...more: string[]) =>
      handrail(place, ["trust", "--workspace", join(place.workspace, "service"), ...more]);
    expect(await read()).toEqual([2, "WORKSPACE:scope"]);
    const { advice } = await explained(place, "read_file", { path: lib }, ...roots);
    expect(advice.map(({ kind }) => kind)).toEqual(["trust"]);
    expect(await trust()).toMatchObject({ code: 0, stdout: expect.stringContaining("files.shared takes effect") });
    expect(await read()).toEqual([0, undefined]);
    expect(await callOf(place, "write_file", { path: lib, content: "" }, ...roots)).toEqual([2, "ZONE:shared"]);
    place.put("workspace/service/handrail.yaml", "files: { shared: [libs, other] }\n");
    expect(await read()).toEqual([2, "WORKSPACE:scope"]);
    expect((await handrail(place, ["doctor"])).stdout).toMatch(/^advisory +trusted workspaces .*\(changed\)/m);
    expect((await trust("--list")).stdout).toMatch(/service +changed/);
    await trust();
    expect(await read()).toEqual([0, undefined]);
    await trust("--revoke");
    expect(await read()).toEqual([2, "WORKSPACE:scope"]);
    const types = (await readEvidence(place.state))
      .map(({ entry }) => entry.eventType)
      .filter((type) => type.startsWith("workspace_trust"));
    expect(types).toEqual(["workspace_trusted", "workspace_trusted", "workspace_trust_revoked"]);
  });

  test("is given and taken under a running server", async () => {
    const place = freshPlace();
    place.put("config/handrail.yaml", "alert: { freeze: false }\n");
    place.put("workspace/service/handrail.yaml", "files: { shared: [libs] }\n");
    const lib = place.put("workspace/libs/a.ts", "a");
    const service = join(place.workspace, "service");
    const client = await connectRpc(place, ["--workspace", service, "--project", place.workspace]);
    expect(await readRule(client, lib)).toBe("WORKSPACE:scope");
    await handrail(place, ["trust", "--workspace", service]);
    await until(async () => (await readRule(client, lib)) === "success");
    place.put("workspace/service/handrail.yaml", "files: { shared: [libs] } # changed\n");
    await until(async () => (await readRule(client, lib)) === "WORKSPACE:scope");
  });

  test("lies beyond the reach of agents, also where the operator's directory is inside of the workspace", async () => {
    const place = freshPlace();
    place.put("workspace/handrail.yaml", "files: { shared: [libs] }\n");
    const inside = join(place.workspace, "cfg");
    await handrail(place, ["trust", "--config", inside, "--workspace", place.workspace]);
    const [name = ""] = readdirSync(join(inside, "trust"));
    const config = ["--config", inside];
    expect(await callOf(place, "read_file", { path: `cfg/trust/${name}` }, ...config)).toEqual([2, "ZONE:secret"]);
    expect(await callOf(place, "write_file", { path: `cfg/trust/${name}`, content: "{}" }, ...config)).toEqual([
      2,
      "ZONE:secret",
    ]);
    expect(await callOf(place, "write_file", { path: "handrail.yaml", content: "" }, ...config)).toEqual([
      2,
      "ZONE:shared",
    ]);
  });
});
