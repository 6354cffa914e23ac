/**
 * The operator's overrides of capabilities in a running kernel: enforced, recorded, explained, and changed without a
 * restart.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createKernel } from "../../../../../src/server/doors/library.ts";
import { dataIn, handrail, until } from "../../../../support/command-line.ts";
import { readEvidence } from "../../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../../support/place.ts";

const open = (place: Place, told: string[] = []) =>
  createKernel({
    environment: {},
    stateDirectory: place.state,
    configDirectory: place.config,
    onWarning: (message) => void told.push(message),
  });

const write = { path: "a.txt", content: "a\n" };
const PATTERN = 'capabilities:\n  write_file:\n    danger_patterns: ["/rm\\\\s+-rf/i"]\n    requires_arming: false\n';

async function overridden(place: Place): Promise<readonly unknown[]> {
  return (await readEvidence(place.state))
    .filter(({ entry }) => entry.eventType === "capability_overridden")
    .map(({ payload }) => payload);
}

test("an override binds from the start on, is replaced by a reload, and each is recorded with what was and what is", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", "capabilities:\n  write_file:\n    approval: always_deny\n");
  const told: string[] = [];
  {
    await using kernel = await open(place, told);
    await using session = await kernel.openSession({ workspace: place.workspace });
    const ruleOf = async (content = write.content) => {
      const { outcome } = (await session.call("write_file", { path: "a.txt", content })).response;
      return outcome.kind === "denied" ? outcome.denial.ruleId : outcome.kind;
    };
    expect(await ruleOf()).toBe("CAPABILITY:write_file");
    writeFileSync(join(place.config, "handrail.yaml"), PATTERN);
    await until(() => told.some((message) => message.includes("capabilities changed")));
    expect(await ruleOf()).toBe("success");
    expect(await ruleOf("RM -RF /\n")).toBe("DANGER:write_file:1");
    writeFileSync(join(place.config, "handrail.yaml"), PATTERN.replace("rm", "(?=rm)"));
    await until(() => told.some((message) => message.includes("is refused")));
    expect(await ruleOf("rm -rf /\n")).toBe("DANGER:write_file:1");
    writeFileSync(join(place.config, "handrail.yaml"), "{}\n");
    await until(() => told.filter((message) => message.includes("capabilities changed")).length > 1);
    expect(await ruleOf("rm -rf /\n")).toBe("success");
  }
  const change = (key: string, before: unknown, after: unknown) => ({ key, before, after, loosens: false });
  expect(await overridden(place)).toEqual([
    { tool: "write_file", changes: [change("approval", "auto", "always_deny")], loosens: false, severity: "info" },
    {
      tool: "write_file",
      changes: [change("danger_patterns", [], ["/rm\\s+-rf/i"])],
      loosens: false,
      severity: "info",
    },
    { tool: "write_file", changes: [], loosens: false, severity: "info" },
  ]);
});

test("explanations and the doctor say what the operator changed, and what of it is less than the tool declares", async () => {
  const place = freshPlace();
  place.put(
    "config/handrail.yaml",
    "capabilities:\n  write_file:\n    approval: ask\n    log_args: true\n  misspelt_tool:\n    approval: ask\n",
  );
  const explained = await handrail(place, [
    "policy",
    "explain",
    "write_file",
    "--arguments",
    JSON.stringify(write),
    "--workspace",
    place.workspace,
    "--json",
  ]);
  expect(explained.code).toBe(2);
  expect(explained.stderr).toContain("`capabilities` names `misspelt_tool`, which no tool is called");
  const { notes, accesses } = dataIn<{
    notes: string[];
    accesses: { policy: { verdict: { obligations: object[] } } }[];
  }>(explained.stdout);
  expect(notes).toEqual([
    `\`capabilities\` in ${place.config}/handrail.yaml changes what the tool declares: \`write_file\`: approval "auto" → "ask", log_args false → true (loosened)`,
  ]);
  expect(accesses.map(({ policy }) => policy.verdict.obligations)).toEqual([
    [{ obligation: "ask", ruleId: "CAPABILITY:write_file", reason: "`write_file` asks for every call" }],
  ]);
  place.put("config/handrail.yaml", "capabilities:\n  write_file:\n    log_args: true\n");
  const findings = dataIn<{ findings?: object[] }>((await handrail(place, ["doctor", "--json"])).stdout);
  expect(JSON.stringify(findings)).toContain("log_args false → true (loosened)");
});

test("a replay asks again what was asked because of arguments that are not kept", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", PATTERN);
  {
    await using kernel = await open(place);
    await using session = await kernel.openSession({ workspace: place.workspace });
    await session.call("write_file", { path: "a.txt", content: "rm -rf /" });
    await session.call("write_file", { path: "a.txt", content: "ls" });
  }
  const same = await handrail(place, ["policy", "diff", place.config, "--json"]);
  expect([same.code, dataIn(same.stdout)]).toEqual([0, expect.objectContaining({ replayed: 2, changes: [] })]);
  place.put(
    "candidate/own.cedar",
    '@id("own.free") @waives("DANGER:write_file:1") permit (principal, action == Handrail::Action::"write_file", resource);',
  );
  const changed = dataIn<{ changes: { kind: string }[] }>(
    (await handrail(place, ["policy", "diff", `${place.base}/candidate`, "--json"])).stdout,
  );
  expect(changed.changes.map(({ kind }) => kind).sort()).toEqual(["obligations", "rules"]);
});

test("a role that an override requires beats every permit", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", "capabilities:\n  write_file:\n    required_role: sre\n");
  await using kernel = await open(place);
  const ruleOf = async (role: string) => {
    await using session = await kernel.openSession({ workspace: place.workspace, role, preset: "open" });
    const { outcome } = (await session.call("write_file", write)).response;
    return outcome.kind === "denied" ? `${outcome.denial.reason} ${outcome.denial.ruleId}` : outcome.kind;
  };
  expect([await ruleOf("dev"), await ruleOf("sre")]).toEqual(["permission_denied RBAC:write_file", "success"]);
});
