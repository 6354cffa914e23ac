/**
 * A permit for one command must not let another one run unasked that is fed, led or started otherwise: by redirections,
 * here-documents, pipes, variables, the directory, or arguments of a tool from outside.
 */
import { expect, onTestFinished, test } from "vitest";
import { newId, systemRandom } from "../../../../src/base/ids.ts";
import type { JsonObject } from "../../../../src/base/json.ts";
import { narrowestPermit } from "../../../../src/policy/explain.ts";
import { openKernel } from "../../../../src/server/compose.ts";
import { addApprover } from "../../../../src/server/people/approver-credentials.ts";
import { until } from "../../../support/command-line.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const here = (body: string) => `python3 <<'END'\n${body}\nEND`;
const run = (command: string, more: JsonObject = {}): JsonObject => ({ command, ...more });

/** What was allowed, and what must go on asking: the programs and their arguments are the same. */
const PAIRS: readonly (readonly [JsonObject, JsonObject])[] = [
  [run("python3 < a.py"), run("python3 < b.py")],
  [run("python3 < a2.py"), run("python3")],
  [run("node < a.js"), run("node < b.js")],
  [run("patch -p1 < a.patch"), run("patch -p1 < b.patch")],
  [run("git apply < a.patch"), run("git apply < b.patch")],
  [run("bash < a.sh"), run("bash < b.sh")],
  [run("sh -s <<'END'\necho a\nEND"), run("sh -s <<'END'\necho b\nEND")],
  [run("psql shop < a.sql"), run("psql shop < b.sql")],
  [run("sqlite3 shop.db < a.sql"), run("sqlite3 shop.db < b.sql")],
  [run(here("print(1)")), run(here("print(2)"))],
  [run("perl <<< 'print 1'"), run("perl <<< 'print 2'")],
  [run("sort list > a.txt"), run("sort list > b.txt")],
  [run("sort more >> a.txt"), run("sort more >> b.txt")],
  [run("make all 2> a.log"), run("make all 2> b.log")],
  [run("make some 2>&1"), run("make some > a.log 2>&1")],
  [run("cat a.py | python3"), run("cat b.py | python3")],
  [run("ruby <(cat a.rb)"), run("ruby <(cat b.rb)")],
  [run("{ php; } < a.php"), run("{ php; } < b.php")],
  [run("exec < a.lua; lua"), run("exec < b.lua; lua")],
  [run("while read line; do awk x; done < a.txt"), run("while read line; do awk x; done < b.txt")],
  [run("MODE=a npm run build"), run("MODE=b npm run build")],
  [run("npm run deploy", { env: ["STAGE=test"] }), run("npm run deploy", { env: ["STAGE=live"] })],
  [run("npm run clean", { cwd: "a" }), run("npm run clean", { cwd: "b" })],
  [run("cd a && npm run tidy"), run("cd b && npm run tidy")],
  [run("go test"), run("go test; go test")],
  [run("printf a > AGENTS.txt"), run("printf a | tee x > AGENTS.txt")],
];

async function openAsking(place: Place) {
  // not allowed at start, so that nothing runs
  place.put("config/handrail.yaml", "sandbox: { backend: none }\napprovals: { wait_seconds: 0 }\n");
  for (const name of ["a", "b"]) place.put(`workspace/${name}/package.json`, "{}");
  const kernel = await openKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: { HOME: place.home },
    onWarning: () => undefined,
  });
  onTestFinished(() => kernel.close());
  const who = { workspace: place.workspace, userId: "bob", agentId: "helper", preset: "meao" } as const;
  const { token } = await kernel.administration.createSession(who);
  const imagined = await kernel.administration.imagineSession(who);
  const explain = (args: JsonObject) => kernel.door.explain({ who: imagined, tool: "shell", args });
  return {
    kernel,
    /** What came of the call: the reason of a refusal, or the code of a failure. */
    async call(args: JsonObject): Promise<string> {
      const requestId = newId("req", systemRandom);
      const submission = { kind: "call", requestId, sessionToken: token, tool: "shell", arguments: args } as const;
      const { outcome } = await kernel.door.execute(submission, new AbortController().signal);
      return outcome.kind === "denied" ? outcome.denial.reason : outcome.kind === "error" ? outcome.code : outcome.kind;
    },
    /** Whether it asks, by what is in force now. */
    async asks(args: JsonObject): Promise<boolean> {
      const { accesses } = await explain(args);
      return accesses.some(({ policy: { verdict } }) => verdict.decision === "deny" || verdict.obligations.length > 0);
    },
    /** The permits that would lift what asks, as a proposal makes them. */
    async permits(args: JsonObject): Promise<readonly string[]> {
      const { accesses } = await explain(args);
      return accesses.flatMap(({ request, policy: { verdict } }) => {
        const waives = verdict.decision === "allow" ? verdict.obligations.map(({ ruleId }) => ruleId) : [];
        return waives.length === 0 ? [] : (narrowestPermit(request, waives, { whose: "principal" }) ?? "");
      });
    },
  };
}

const UNNAMED = / && context\.call == "(?:[^"\\]|\\.)*"/g;

test("a permit for one command lets no other run that is fed, led or started otherwise", async () => {
  const place = freshPlace();
  const { asks, permits } = await openAsking(place);
  const all = new Set<string>();
  for (const [allowed] of PAIRS) for (const permit of await permits(allowed)) all.add(permit);
  place.put("config/policy/allowed.cedar", [...all].join("\n"));
  for (const [allowed, other] of PAIRS) {
    await until(async () => !(await asks(allowed)));
    expect([other, await asks(other)]).toEqual([other, true]);
  }
  // Control: without what names the call, the same permits let others through, but for those whose marks name their
  // line.
  const loose = new Map([...all].map((permit) => [permit.replace(/^@id.*$/m, "").replace(UNNAMED, ""), permit]));
  const text = [...loose.keys()].map((permit, index) => `@id("loose.${index}")${permit}`).join("\n");
  place.put("config/policy/allowed.cedar", text);
  await until(async () => !(await asks({ command: "patch -p1 < b.patch" })));
  const through = await Promise.all(PAIRS.map(async ([, other]) => !(await asks(other))));
  expect(through.filter(Boolean).length).toBeGreaterThanOrEqual(12);
});

test("what was proposed for a command and written lets the very same call go on, and asks about another", async () => {
  const place = freshPlace();
  const { kernel, call } = await openAsking(place);
  const fed = (name: string) => ({ command: `python3 < ${name}`, cwd: "a", env: ["MODE=test"] });
  expect(await call(fed("a.py"))).toBe("tool_approval_required");
  const [asked] = await kernel.approvals.list();
  if (asked === undefined) throw new Error("nothing was asked");
  await kernel.alwaysAllow.write(asked, "carol");
  await until(async () => (await call(fed("a.py"))) === "SANDBOX_UNAVAILABLE");
  for (const other of [
    fed("b.py"),
    { ...fed("a.py"), cwd: "b" },
    { ...fed("a.py"), env: ["MODE=live"] },
    { command: "python3" },
  ])
    expect(await call(other)).toBe("tool_approval_required");
});

test("what was allowed for the session or for a time is for the very same call, too", async () => {
  const place = freshPlace();
  const { kernel, call } = await openAsking(place);
  const credential = await addApprover(place.state, "carol", systemRandom);
  for (const [index, scope] of (
    [{ kind: "session" }, { kind: "until", untilMs: Date.now() + 60_000 }] as const
  ).entries()) {
    const fed = { command: `python3 < a${index}.py` };
    expect(await call(fed)).toBe("tool_approval_required");
    const asked = (await kernel.approvals.list()).find(
      ({ state, document }) => state === "pending" && document.includes(`a${index}.py`),
    );
    if (asked === undefined) throw new Error("nothing was asked");
    await kernel.approvals.decide(asked.ref, { approved: true, scope }, credential);
    for (const again of [1, 2]) expect([again, await call(fed)]).toEqual([again, "SANDBOX_UNAVAILABLE"]);
    for (const other of [{ command: "python3 < b.py" }, { ...fed, cwd: "a" }, { ...fed, env: ["A=1"] }])
      expect(await call(other)).toBe("tool_approval_required");
  }
});
