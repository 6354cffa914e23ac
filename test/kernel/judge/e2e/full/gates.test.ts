/**
 * Arming, modes, skills, tool specs and tool policies, as an operator meets them on the command line and in a running
 * kernel.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { type OpenKernel, openKernel } from "../../../../../src/server/compose.ts";
import { dataIn, environmentOf, handrail, oneJsonLine, until } from "../../../../support/command-line.ts";
import { readEvidence } from "../../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../../support/place.ts";

interface Result {
  readonly status: string;
  readonly error?: { readonly code: string; readonly rule_id?: string; readonly message: string };
}

const SPEC = JSON.stringify({ schema: "serverd.tool_spec.v1", id: "write_file", requires_arming: true });
const POLICY = (more: object) => JSON.stringify({ schema: "serverd.tool_policy.v1", ...more });

/** Makes a call on the command line: the exit code and the result. */
async function call(
  place: Place,
  tool: string,
  args: JsonObject,
  more: readonly string[] = [],
  environment: Record<string, string> = {},
) {
  const { code, stdout, stderr } = await handrail(place, ["call", tool, "--json", JSON.stringify(args), ...more], {
    environment,
  });
  if (code !== 0 && code !== 2) throw new Error(stderr);
  return [code, oneJsonLine<Result>(stdout).error?.code] as const;
}

const write = (place: Place, environment: Record<string, string> = {}) =>
  call(place, "write_file", { path: "a.txt", content: "new\n" }, [], environment);
const OK = [0, undefined];
const UNARMED = [2, "TOOL_REQUIRES_ARMING"];

describe("arming", () => {
  test("lets what needs it run until it is ended, in every kernel of the state directory, and is recorded", async () => {
    const place = freshPlace();
    place.put("config/tools/write.json", SPEC);
    expect(await write(place)).toEqual(UNARMED);
    const armed = await handrail(place, ["arm", "--for", "15m", "--json"]);
    const { armedAtMs, untilMs, armedBy } = dataIn<{ armedAtMs: number; untilMs: number; armedBy: string }>(
      armed.stdout,
    );
    expect(untilMs - armedAtMs).toBe(15 * 60_000);
    expect(await write(place)).toEqual(OK);
    const doctor = await handrail(place, ["doctor"]);
    expect(doctor.stdout).toMatch(new RegExp(`advisory +arming +armed: all sessions until .* by ${armedBy}`));
    const disarmed = await handrail(place, ["disarm"]);
    expect(disarmed.stdout).toBe("nothing is armed\n");
    expect(await write(place)).toEqual(UNARMED);
    const kept = (await readEvidence(place.state)).filter(({ entry }) =>
      ["armed", "disarmed"].includes(entry.eventType),
    );
    expect(
      kept.map(({ entry, payload }) => [entry.eventType, entry.actor, payload["reach"], payload["until"]]),
    ).toEqual([
      ["armed", `operator:${armedBy}`, "all", new Date(untilMs).toISOString()],
      ["disarmed", expect.stringMatching(/^operator:/), "all", undefined],
    ]);
  });

  test("of one session is that session's alone, and is listed with it", async () => {
    const place = freshPlace();
    place.put("config/tools/write.json", SPEC);
    const make = async () =>
      dataIn<{ id: string; token: string }>((await handrail(place, ["sessions", "create", "--json"])).stdout);
    const [one, other] = [await make(), await make()];
    expect((await handrail(place, ["arm", "--for", "15m", "--session", one.id])).code).toBe(0);
    const writeAs = (token: string) => call(place, "write_file", { path: "a.txt", content: "" }, ["--session", token]);
    expect([await writeAs(one.token), await writeAs(other.token)]).toEqual([OK, UNARMED]);
    const listed = dataIn<{ id: string; armedUntil?: string }[]>(
      (await handrail(place, ["sessions", "list", "--json"])).stdout,
    );
    expect(listed.filter(({ armedUntil }) => armedUntil !== undefined).map(({ id }) => id)).toEqual([one.id]);
  });

  test("by TOOLS_ARM lasts as long as the process, is recorded, and anything but 0 and 1 is refused", async () => {
    const place = freshPlace();
    place.put("config/tools/write.json", SPEC);
    expect(await write(place, { TOOLS_ARM: "1" })).toEqual(OK);
    expect(await write(place, { TOOLS_ARM: "0" })).toEqual(UNARMED);
    const odd = await handrail(place, ["call", "read_file"], { environment: { TOOLS_ARM: "yes" } });
    expect([odd.code, odd.stderr]).toEqual([1, "handrail: TOOLS_ARM is `yes`; set it to 0 or 1, or leave it out\n"]);
    const kept = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "armed");
    expect(kept.map(({ entry, payload }) => [entry.actor, payload["reach"]])).toEqual([
      ["operator:TOOLS_ARM", "kernel"],
    ]);
  });

  test("for too long, or for a session that is not there, is refused in words", async () => {
    const place = freshPlace();
    const said = async (...args: string[]) => (await handrail(place, ["arm", ...args])).stderr;
    expect(await said("--for", "2d")).toBe(
      "handrail: an arming lasts between one millisecond and a day; choose a time in that range, such as 15m\n",
    );
    expect(await said("--for", "1m", "--session", "ses_none")).toBe(
      "handrail: there is no session `ses_none`; `handrail sessions list` shows them\n",
    );
  });
});

describe("modes and skills", () => {
  function profiles(): Place {
    const place = freshPlace();
    place.put("config/modes/review.yaml", "description: reading only\ntools: [read_file, list_files]\n");
    place.put(
      "config/skills/docs.json",
      JSON.stringify({
        tools: { read_file: { input: { properties: { path: { type: "string", pattern: "^docs/" } } } } },
      }),
    );
    place.put("workspace/docs/a.md", "text\n");
    place.put("workspace/a.md", "text\n");
    return place;
  }

  test("are listed and shown", async () => {
    const place = profiles();
    const shown = async (...args: string[]) => dataIn((await handrail(place, [...args, "--json"])).stdout);
    const review = { name: "review", description: "reading only", tools: { read_file: {}, list_files: {} } };
    const shipped = ["coder", "council", "foreman", "reviewer", "smart"];
    const modes = (await shown("modes", "list")) as { readonly name: string }[];
    expect(modes.map(({ name }) => name).sort()).toEqual(["review", ...shipped].sort());
    expect(modes).toContainEqual(review);
    expect(await shown("modes", "show", "review")).toEqual(review);
    expect(await shown("skills", "show", "docs")).toEqual({
      name: "docs",
      description: "",
      tools: { read_file: { input: { properties: { path: { type: "string", pattern: "^docs/" } } } } },
    });
    const listed = (await handrail(place, ["modes", "list"])).stdout;
    expect(listed).toMatch(/^MODE +TOOLS +DESCRIPTION\n/);
    expect(listed).toMatch(/^review +2 +reading only$/m);
    expect(listed).toMatch(/^council +1 +only says what it thinks$/m);
    expect(await handrail(place, ["skills", "show", "none"])).toEqual({
      code: 64,
      stdout: "",
      stderr: "handrail: there is no skill `none`; `handrail skills list` shows them\n",
    });
  });

  test("narrow a session, and what they left in force is recorded with it", async () => {
    const place = profiles();
    const under = (...more: string[]) => call(place, "read_file", { path: "a.md" }, more);
    expect(await under("--mode", "review")).toEqual(OK);
    expect(await call(place, "delete_file", { path: "a.md" }, ["--mode", "review"])).toEqual([2, "TOOL_NOT_ALLOWED"]);
    expect(await under("--skill", "docs")).toEqual([2, "SKILL_TOOL_CONSTRAINT_FAILED"]);
    expect(await call(place, "read_file", { path: "docs/a.md" }, ["--skill", "docs", "--mode", "review"])).toEqual(OK);
    const made = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "session_created");
    const { applied, registry, mode, skill } = made.at(-1)?.payload ?? {};
    expect({ applied, registry, mode, skill }).toEqual({
      applied: {
        hash: expect.stringMatching(/^blake3:[0-9a-f]{64}$/),
        schema: "handrail.mode_applied.v1",
        mode: "review",
        skill: "docs",
        tools: [{ tool: "read_file", input: expect.stringMatching(/^blake3:[0-9a-f]{64}$/) }],
      },
      registry: expect.stringMatching(/^[0-9a-f]{64}$/),
      mode: "review",
      skill: "docs",
    });
  });

  test("that are not defined are refused when the session is made", async () => {
    const place = profiles();
    for (const [flag, name] of [
      ["--mode", "mode"],
      ["--skill", "skill"],
    ] as const) {
      const { code, stderr } = await handrail(place, ["sessions", "create", flag, "none"]);
      expect([code, stderr]).toEqual([
        64,
        `handrail: there is no ${name} \`none\`; \`handrail ${name}s list\` shows those that there are\n`,
      ]);
    }
  });

  test("are named by an explanation, with what would help", async () => {
    const place = profiles();
    const explained = async (tool: string, args: JsonObject, ...more: string[]) => {
      const { stdout } = await handrail(place, [
        "policy",
        "explain",
        tool,
        "--arguments",
        JSON.stringify(args),
        ...more,
        "--json",
      ]);
      const { runs, denial, advice } = dataIn<{
        runs: boolean;
        denial?: { ruleId: string };
        advice: { change: string }[];
      }>(stdout);
      return [runs, denial?.ruleId, ...advice.map(({ change }) => change)];
    };
    expect(await explained("delete_file", { path: "a.md" }, "--mode", "review")).toEqual([
      false,
      "MODE:review",
      "make a session without the mode `review`, or with one that allows this call of `delete_file`",
      expect.stringContaining("that lifts what CAPABILITY:delete_file:unrecoverable asks for"),
    ]);
    expect(await explained("read_file", { path: "a.md" }, "--skill", "docs")).toEqual([
      false,
      "SKILL:docs",
      "make a session without the skill `docs`, or with one that allows this call of `read_file`",
    ]);
    expect(await explained("read_file", { path: "docs/a.md" }, "--skill", "docs")).toEqual([true, undefined]);
    place.put("config/policy.json", POLICY({ allowed_tools: ["list_files"] }));
    place.put("config/tools/read.json", SPEC.replace("write_file", "read_file"));
    expect(await explained("read_file", { path: "a.md" })).toEqual([
      false,
      "GATE:policy.json",
      `add \`read_file\` to \`allowed_tools\` in ${place.config}/policy.json`,
      "arm it for a while: handrail arm --for 15m",
    ]);
  });
});

test("a tool policy that is not valid when a kernel starts lets no tool run until it is mended", async () => {
  const place = freshPlace();
  place.put("workspace/a.md", "text\n");
  const read = () => call(place, "read_file", { path: "a.md" });
  expect(await read()).toEqual(OK);
  const file = place.put("config/policy.json", POLICY({ allow: ["*"] }));
  expect(await read()).toEqual([2, "TOOL_POLICY_INVALID"]);
  const doctor = await handrail(place, ["doctor"]);
  expect([doctor.code, doctor.stdout]).toEqual([
    1,
    expect.stringMatching(/failed +operator directory +.*policy\.json:1:\d+: file: unrecognized key: "allow"/),
  ]);
  writeFileSync(file, POLICY({ allowed_tools: ["*"] }));
  expect(await read()).toEqual(OK);
  place.put("config/tools/a.json", "{}");
  expect(await read()).toEqual([2, "TOOL_SPEC_INVALID"]);
});

describe("in a running kernel", () => {
  async function running(place: Place, wish: { readonly mode?: string } = {}) {
    const told: string[] = [];
    const kernel = await openKernel({
      environment: environmentOf(place),
      onWarning: (message) => void told.push(message),
    });
    onTestFinished(() => kernel.close());
    const { token } = await kernel.administration.createSession({
      workspace: place.workspace,
      userId: "user",
      agentId: "agent",
      ...wish,
    });
    return { told, kernel, ask: (tool: string, args: JsonObject) => answer(kernel, token, tool, args) };
  }

  async function answer(kernel: OpenKernel, sessionToken: string, tool: string, args: JsonObject) {
    const submission = { kind: "call", requestId: "one", sessionToken, tool, arguments: args } as const;
    const { outcome } = await kernel.door.execute(submission, new AbortController().signal);
    return outcome.kind === "denied" ? `${outcome.denial.reason} ${outcome.denial.ruleId}` : outcome.kind;
  }

  test("a changed mode is in force for sessions that have it, and a broken one leaves the old in force", async () => {
    const place = freshPlace();
    place.put("workspace/a.md", "text\n");
    const file = place.put("config/modes/review.yaml", "tools: [read_file]\n");
    const { told, ask } = await running(place, { mode: "review" });
    expect(await ask("list_files", { path: "." })).toBe("tool_not_allowed MODE:review");
    writeFileSync(file, "tools: [list_files]\n");
    await until(async () => (await ask("list_files", { path: "." })) === "success");
    expect(await ask("read_file", { path: "a.md" })).toBe("tool_not_allowed MODE:review");
    writeFileSync(file, "tools: [\n");
    await until(() => told.some((message) => /refused and the old one stays[\s\S]*modes\/review\.yaml/.test(message)));
    expect(await ask("list_files", { path: "." })).toBe("success");
    rmSync(file);
    await until(async () => (await ask("list_files", { path: "." })) === "tool_not_allowed MODE:review");
    const evidence = (await readEvidence(place.state)).map(({ entry }) => entry.eventType);
    expect(evidence.filter((type) => type === "gates_loaded")).toHaveLength(2);
    expect(evidence.filter((type) => type === "policy_rejected")).toHaveLength(1);
  });

  test("a tool policy that breaks or vanishes lifts nothing", async () => {
    const place = freshPlace();
    const file = place.put("config/policy.json", POLICY({ allowed_tools: ["read_file"] }));
    const { told, ask } = await running(place);
    const listing = () => ask("list_files", { path: "." });
    expect(await listing()).toBe("tool_not_allowed GATE:policy.json");
    rmSync(file);
    await until(() => told.some((message) => message.includes("policy.json` is gone; put it back")));
    expect(await listing()).toBe("tool_not_allowed GATE:policy.json");
    writeFileSync(file, "{", { mode: 0o600 });
    await until(() => told.some((message) => message.includes("`policy.json`: not valid JSON")));
    expect(await listing()).toBe("tool_not_allowed GATE:policy.json");
    writeFileSync(file, POLICY({ default_allow: true }));
    await until(async () => (await listing()) === "success");
    const evidence = await readEvidence(place.state);
    const [started, loaded] = ["kernel_started", "gates_loaded"].map(
      (type) => evidence.find(({ entry }) => entry.eventType === type)?.payload,
    );
    expect(started?.["gates"]).toMatch(/^blake3:/);
    expect(loaded?.["previous"]).toBe(started?.["gates"]);
  });

  test("the policy.json of a workspace narrows it, cannot be changed by an agent, and closes it when it is broken", async () => {
    const place = freshPlace();
    place.put("workspace/a.md", "text\n");
    const file = place.put("workspace/policy.json", JSON.stringify({ Version: "2012-10-17" }));
    const { ask } = await running(place);
    expect(await ask("write_file", { path: "policy.json", content: "{}" })).toBe("success");
    writeFileSync(file, POLICY({ allowed_tools: ["read_file", "write_file"] }));
    const listing = () => ask("list_files", { path: "." });
    await until(async () => (await listing()) === "tool_not_allowed WORKSPACE:policy.json");
    expect(await ask("read_file", { path: "a.md" })).toBe("success");
    expect(await ask("write_file", { path: "policy.json", content: "{}" })).toBe("workspace_read_only ZONE:shared");
    expect(await ask("write_file", { path: "config/policy.json", content: "{}" })).toBe("success");
    writeFileSync(join(place.workspace, "policy.json"), "{");
    await until(async () => (await listing()) === "tool_policy_invalid CONFIG:workspace_invalid");
    rmSync(file);
    await until(async () => (await listing()) === "success");
  });
});
