// Hot reload: a good change is taken over as a whole, a bad one not at all, and half a change is not taken for a whole
// one.
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ToolRegistry } from "../../../src/kernel/index.ts";
import { HotReload } from "../../../src/server/hot-reload.ts";
import { BUILT_IN_TOOLS } from "../../../src/server/operator/built-in-tools.ts";
import { type OperatorDirectory, readOperatorDirectory } from "../../../src/server/operator/operator-directory.ts";
import { ToolsInForce } from "../../../src/server/operator/tools-in-force.ts";
import { POLICY_RETIRED_MAX, PolicyCatalog } from "../../../src/server/policy/policy-catalog.ts";
import { MemoryLedger } from "../../support/memory-kernel.ts";
import { freshPlace, type Place } from "../../support/place.ts";

let place: Place;
beforeEach(() => {
  place = freshPlace();
});

const forbid = (path: string) =>
  `@id("own.no-${path}")\n@message("leave it; do something else")\nforbid (principal, action, resource is Handrail::File)\nwhen { resource.path == "${path}" };\n`;

/** A kernel's part in a reload, that looks only when it is told to. */
async function reloading(settleMs = 2) {
  const live = { operator: await readOperatorDirectory(place.config) };
  const ledger = new MemoryLedger();
  const registry = new ToolRegistry();
  for (const tool of BUILT_IN_TOOLS) registry.register(tool);
  const tools = new ToolsInForce(registry);
  const inputsOf = (operator: OperatorDirectory) => ({
    tools: tools.under(operator.settings).tools,
    operator,
  });
  const policy = new PolicyCatalog(inputsOf(live.operator), ledger, () => 0);
  const told: string[] = [];
  const errors: unknown[] = [];
  const counts = { forgotten: 0, refreshed: 0 };
  const workspaces = {
    forget: () => {
      counts.forgotten += 1;
    },
    refresh: async () => {
      counts.refreshed += 1;
    },
  };
  const reload = new HotReload(
    {
      live,
      policy,
      tools,
      inputsOf,
      workspaces,
      ledger,
      nowMs: () => 0,
      tell: (message) => void told.push(message),
      onInternalError: (error) => void errors.push(error),
    },
    { checkMs: 1, settleMs },
  );
  onTestFinished(() => reload.close());
  const decide = async (path: string, preset = "dev") => {
    const verdict = (await policy.engine(preset)).evaluate({
      principal: { sessionId: "s", workspace: "/w", agent: "a", user: "u", role: "dev", mode: "default" },
      action: "read_file",
      tool: "read_file",
      effect: "read",
      resource: { kind: "file", path, root: "service", zone: "own" },
      context: { armed: false, trust: "user", dataClass: "internal", network: false, time: 0 },
    });
    return verdict.decision === "allow" ? "allow" : verdict.ruleId;
  };
  return { live, ledger, policy, told, errors, counts, reload, decide };
}

const putPolicy = (text: string, name = "own.cedar") => place.put(`config/policy/${name}`, text);

describe("a good change", () => {
  test("is in force after one look, and recorded with the old and the new hash before it decides", async () => {
    putPolicy(forbid("a"));
    const { reload, decide, ledger, policy, counts, told } = await reloading();
    expect([await decide("a"), await decide("b")]).toEqual(["own.no-a", "allow"]);
    const before = (await policy.engine("dev")).hash;
    putPolicy(forbid("b"));
    expect(await decide("b")).toBe("allow"); // control: nothing happens without a look
    await reload.look();
    expect([await decide("a"), await decide("b")]).toEqual(["allow", "own.no-b"]);
    const after = (await policy.engine("dev")).hash;
    expect(ledger.of("policy_loaded").map(({ payload, durability }) => [payload, durability])).toEqual([
      [{ preset: "dev", policy: before, operatorFiles: ["own.cedar"] }, "durable"],
      [{ preset: "dev", policy: after, previous: before, operatorFiles: ["own.cedar"] }, "durable"],
    ]);
    expect([counts.forgotten, told]).toEqual([1, [`policy reloaded: preset dev is ${after} now`]]);
  });

  test.each([
    ["a new file", () => putPolicy(forbid("b"), "more.cedar")],
    [
      "an atomic replacement with the same size",
      () => {
        place.put("config/policy/own.new", forbid("b"));
        renameSync(join(place.config, "policy/own.new"), join(place.config, "policy/own.cedar"));
      },
    ],
    [
      "a replaced directory",
      () => {
        place.put("config/next/own.cedar", forbid("b"));
        renameSync(join(place.config, "policy"), join(place.config, "old"));
        renameSync(join(place.config, "next"), join(place.config, "policy"));
      },
    ],
  ])("is noticed when it is %s", async (_what, change) => {
    putPolicy(forbid("a"));
    const { reload, decide } = await reloading();
    await reload.look();
    expect(await decide("b")).toBe("allow");
    change();
    await reload.look();
    expect(await decide("b")).toBe("own.no-b");
  });

  test("that removes a file lifts what it forbade, and one that removes nothing is not recorded", async () => {
    putPolicy(forbid("a"));
    putPolicy(forbid("b"), "more.cedar");
    const { reload, decide, ledger } = await reloading();
    expect(await decide("b")).toBe("own.no-b");
    rmSync(join(place.config, "policy/more.cedar"));
    await reload.look();
    expect([await decide("a"), await decide("b")]).toEqual(["own.no-a", "allow"]);
    putPolicy(forbid("a")); // the same text, written again
    await reload.look();
    expect(ledger.types()).toEqual(["policy_loaded", "policy_loaded"]);
  });

  test("of a policy that was not valid at the start opens what it refused", async () => {
    putPolicy("permit (principal");
    const { reload, decide, ledger } = await reloading();
    await expect(decide("a")).rejects.toMatchObject({ code: "POLICY_INVALID" });
    putPolicy(forbid("a"));
    await reload.look();
    expect([await decide("a"), await decide("b")]).toEqual(["own.no-a", "allow"]);
    expect(ledger.of("policy_loaded")).toHaveLength(1);
  });

  test("holds for every preset, also for one that is used later", async () => {
    const { reload, decide } = await reloading();
    expect(await decide("a", "reader")).toBe("allow");
    putPolicy(forbid("a"));
    await reload.look();
    expect([await decide("a", "reader"), await decide("a", "dev")]).toEqual(["own.no-a", "own.no-a"]);
  });
});

describe("a bad change", () => {
  const bad = [
    ["a syntax error", () => putPolicy("permit (principal"), /policy\/own\.cedar:1:\d+: /],
    [
      "an attribute that does not exist",
      () => putPolicy(`@id("own.x") permit (principal, action, resource) when { resource.nothing };`),
      /own\.cedar:1:\d+/,
    ],
    [
      "a failing example",
      () => place.put("config/policy/own.test.yaml", "- deny: read_file\n  arguments: { path: b }\n"),
      /policy\/own\.test\.yaml:1:3: .*should be denied, but is allowed by dev\.read-files/,
    ],
    [
      "an example that cannot be read",
      () => place.put("config/policy/own.test.yaml", "- forbid: read_file\n"),
      /policy\/own\.test\.yaml:1:3: /,
    ],
    ["settings that are not valid", () => place.put("config/handrail.yaml", "presets: dev\n"), /handrail\.yaml/],
    ["a policy file that others can write", () => chmodSync(putPolicy(forbid("b")), 0o666), /can be written by others/],
    [
      "a policy directory that is gone",
      () => rmSync(join(place.config, "policy"), { recursive: true }),
      /policy` is gone/,
    ],
    ["a settings file that is gone", () => rmSync(join(place.config, "handrail.yaml")), /handrail\.yaml` is gone/],
    ["an operator directory that is gone", () => renameSync(place.config, join(place.base, "away")), /config` is gone/],
    [
      "a policy directory that is a link to one that others can write",
      () => {
        const target = join(place.workspace, "policy");
        mkdirSync(target, { mode: 0o777 });
        chmodSync(target, 0o777);
        writeFileSync(join(target, "own.cedar"), forbid("b"));
        rmSync(join(place.config, "policy"), { recursive: true });
        symlinkSync(target, join(place.config, "policy"));
      },
      /policy` can be written by others/,
    ],
  ] as const;

  test.each(bad)("(%s) changes nothing, is recorded, and is told with its place", async (_what, change, problem) => {
    putPolicy(forbid("a"));
    place.put("config/handrail.yaml", "preset: dev\n");
    const { reload, decide, ledger, policy, told, counts, errors } = await reloading();
    expect(await decide("a")).toBe("own.no-a");
    const { hash } = await policy.engine("dev");
    change();
    await reload.look();
    await reload.look();
    expect([await decide("a"), await decide("b"), (await policy.engine("dev")).hash]).toEqual([
      "own.no-a",
      "allow",
      hash,
    ]);
    expect(told).toEqual([expect.stringMatching(problem)]);
    expect(ledger.of("policy_rejected").map(({ payload }) => payload)).toEqual([
      { problem: expect.stringMatching(problem), kept: { dev: hash } },
    ]);
    expect([counts.forgotten, errors]).toEqual([0, []]);
  });

  test("that is mended is taken over by itself", async () => {
    putPolicy(forbid("a"));
    const { reload, decide } = await reloading();
    expect(await decide("a")).toBe("own.no-a");
    putPolicy("permit (");
    await reload.look();
    putPolicy(forbid("b"));
    await reload.look();
    expect([await decide("a"), await decide("b")]).toEqual(["allow", "own.no-b"]);
  });
});

describe("a change that is under way", () => {
  test("is not read before it is quiet: half a file is never judged", async () => {
    putPolicy(forbid("a"));
    const { reload, decide, ledger } = await reloading(40);
    expect(await decide("a")).toBe("own.no-a");
    const whole = `${forbid("a")}${forbid("b")}`;
    putPolicy(whole.slice(0, 150));
    const looking = reload.look();
    await new Promise((done) => setTimeout(done, 10));
    putPolicy(whole);
    await looking;
    expect([await decide("a"), await decide("b")]).toEqual(["own.no-a", "own.no-b"]);
    expect(ledger.of("policy_rejected")).toEqual([]);
  });

  test("fifty changes in a row end with the last one, and none in between opens anything", async () => {
    putPolicy(forbid("kept"));
    const { reload, decide, ledger, policy } = await reloading();
    expect(await decide("kept")).toBe("own.no-kept");
    reload.start();
    for (let change = 1; change <= 50; change += 1) {
      putPolicy(change % 5 === 0 ? `${forbid("kept")} permit (` : `${forbid("kept")}${forbid(`n${change}`)}`);
      expect(await decide("kept")).toBe("own.no-kept");
    }
    putPolicy(`${forbid("kept")}${forbid("last")}`);
    for (let look = 0; look < 5; look += 1) await reload.look();
    expect([await decide("kept"), await decide("last"), await decide("n49")]).toEqual([
      "own.no-kept",
      "own.no-last",
      "allow",
    ]);
    const hashes = ledger.of("policy_loaded").map(({ payload }) => payload["policy"]);
    expect(hashes.at(-1)).toBe((await policy.engine("dev")).hash);
    for (const { payload } of ledger.of("policy_loaded").slice(1)) expect(hashes).toContain(payload["previous"]);
  });

  test("an engine that was replaced goes on deciding for calls in flight, but not for ever", async () => {
    putPolicy(forbid("a"));
    const { reload, policy } = await reloading();
    const first = await policy.engine("dev");
    const denied = () =>
      first.evaluate({ ...REQUEST, resource: { kind: "file", path: "a", root: "service", zone: "own" } });
    for (let change = 0; change < POLICY_RETIRED_MAX; change += 1) {
      putPolicy(forbid(`n${change}`));
      await reload.look();
      expect(denied()).toMatchObject({ decision: "deny", ruleId: "own.no-a" });
    }
    putPolicy(forbid("last"));
    await reload.look();
    expect(denied()).toMatchObject({ decision: "deny", cause: "error" });
  });
});

const REQUEST = {
  principal: { sessionId: "s", workspace: "/w", agent: "a", user: "u", role: "dev", mode: "default" },
  action: "read_file",
  tool: "read_file",
  effect: "read",
  context: { armed: false, trust: "user", dataClass: "internal", network: false, time: 0 },
} as const;

describe("settings", () => {
  test("that are looked up for each call change, and are recorded", async () => {
    place.put("config/handrail.yaml", "tools: { disabled: [write_file] }\n");
    const { reload, live, ledger, told } = await reloading();
    place.put("config/handrail.yaml", "tools: { enabled: false }\nalert: { violations_per_minute: 9 }\n");
    await reload.look();
    expect(live.operator.settings.tools).toEqual({ enabled: false, disabled: [] });
    expect(ledger.of("settings_loaded").map(({ payload }) => payload)).toEqual([
      {
        settings: expect.stringMatching(/^blake3:/),
        previous: expect.stringMatching(/^blake3:/),
        changed: ["alert", "tools"],
        afterRestart: [],
      },
    ]);
    expect(told).toEqual(["handrail.yaml reloaded: alert, tools changed"]);
  });

  test("that name a tool which is not there are told of, wherever a tool is named", async () => {
    for (const settings of [
      "tools: { disabled: [raed_file] }",
      "capabilities: { raed_file: {} }",
      "limits: { rate: { tools: { raed_file: { calls_per_minute: 1 } } } }",
    ]) {
      place.put("config/handrail.yaml", "preset: dev\n");
      const { reload, told } = await reloading();
      place.put("config/handrail.yaml", `${settings}\n`);
      await reload.look();
      expect([settings, told]).toEqual([
        settings,
        expect.arrayContaining([expect.stringContaining("`raed_file`, which no tool is called")]),
      ]);
    }
  });

  test("and policies change together or not at all", async () => {
    putPolicy(forbid("a"));
    const { reload, live, decide } = await reloading();
    place.put("config/handrail.yaml", "tools: { disabled: [write_file] }\n");
    putPolicy("permit (");
    await reload.look();
    expect(live.operator.settings.tools.disabled).toEqual([]);
    putPolicy(forbid("b"));
    await reload.look();
    expect([live.operator.settings.tools.disabled, await decide("b")]).toEqual([["write_file"], "own.no-b"]);
  });
});

test("a change that cannot be recorded is not in force, and is tried again", async () => {
  putPolicy(forbid("a"));
  const { reload, decide, ledger, errors } = await reloading();
  expect(await decide("a")).toBe("own.no-a");
  ledger.breakFor(() => true);
  putPolicy(forbid("b"));
  await reload.look();
  await reload.look();
  expect([await decide("a"), await decide("b")]).toEqual(["own.no-a", "allow"]);
  expect(errors).toHaveLength(1);
  ledger.before = () => undefined;
  await reload.look();
  expect([await decide("a"), await decide("b")]).toEqual(["allow", "own.no-b"]);
});

test("every look asks the workspaces too", async () => {
  const { reload, counts } = await reloading();
  await reload.look();
  await reload.look();
  expect(counts.refreshed).toBe(2);
});
