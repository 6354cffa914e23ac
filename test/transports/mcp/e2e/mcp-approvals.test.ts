/**
 * People at attended clients answer approvals, as programs that nobody here wrote show them: the official client, and
 * `mcpdo`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, type ElicitRequestFormParams, type ElicitResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemRandom } from "../../../../src/base/ids.ts";
import { addApprover, saveApproverToken } from "../../../../src/server/people/approver-credentials.ts";
import { dataIn, environmentOf, handrail, until } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { mcpdo, serverCommand } from "../../../support/mcp-programs.ts";
import { facts, factsOf, textsOf } from "../../../support/mcp-result.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const ERAS = ["modern", "legacy"] as const;
const CALL = { name: "write_file", arguments: { path: "CLAUDE.md", content: "be careful\n" } };
const ONCE: ElicitResult = { action: "accept", content: { decision: "approve once" } };

const attending = (client: string) => `approvals:\n  attended_clients: [${client}]\n`;

function placeFor(attended: string): Place {
  const place = freshPlace();
  place.put("config/handrail.yaml", attending(attended));
  return place;
}

/** The official client, whose person answers as `person` does. */
async function connected(
  place: Place,
  era: (typeof ERAS)[number],
  person: (asked: ElicitRequestFormParams) => ElicitResult | Promise<ElicitResult>,
) {
  const mode = era === "modern" ? { pin: "2026-07-28" } : era;
  const client = new Client(
    { name: "desk", version: "1" },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
  );
  const asked: ElicitRequestFormParams[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params as ElicitRequestFormParams);
    return person(params as ElicitRequestFormParams);
  });
  const [command, ...args] = serverCommand(place);
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command, args, env: environmentOf(place), stderr: "inherit" }));
  return { client, asked };
}

const isWritten = (place: Place) => existsSync(join(place.workspace, "CLAUDE.md"));
const decisions = async (place: Place) =>
  (await readEvidence(place.state))
    .filter(({ entry }) => entry.eventType === "tool_approval_decided")
    .map(({ payload }) => payload);
const CHANNEL = { modern: "multi_round_trip", legacy: "elicitation" } as const;

describe.each(ERAS)("the official client (%s)", (era) => {
  test("shows the request; what the person approves is done once and recorded as theirs", async () => {
    const place = placeFor("desk");
    const { client, asked } = await connected(place, era, () => ONCE);
    expect(await client.callTool(CALL)).toMatchObject({ isError: false, ...facts({ status: "success" }) });
    expect(readFileSync(join(place.workspace, "CLAUDE.md"), "utf8")).toBe("be careful\n");
    expect(asked).toHaveLength(1);
    expect(asked[0]?.message).toContain("\n`write_file`: write 1 protected file\n");
    expect(asked[0]?.message).toContain("\n│ +be careful\n");
    await until(async () => (await decisions(place)).length === 1);
    expect(await decisions(place)).toMatchObject([
      { approved: true, by: "client:desk", channel: CHANNEL[era], holds: true },
    ]);
    await client.callTool({ ...CALL, arguments: { ...CALL.arguments, content: "something else\n" } });
    expect(asked).toHaveLength(2);
  });

  test("what the person refuses is denied", async () => {
    const place = placeFor("desk");
    const { client } = await connected(place, era, () => ({ action: "decline" }));
    expect(await client.callTool(CALL)).toMatchObject({
      isError: true,
      ...facts({ error: { code: "TOOL_APPROVAL_DENIED" } }),
    });
    expect(isWritten(place)).toBe(false);
  });

  test("a question that the person closes is left to others, who approve from the command line", async () => {
    const place = placeFor("desk");
    const { client } = await connected(place, era, () => ({ action: "cancel" }));
    const refused = await client.callTool(CALL);
    expect(refused).toMatchObject({
      ...facts({ error: { code: "TOOL_APPROVAL_REQUIRED", approval_ref: expect.any(String) } }),
    });
    await saveApproverToken(place.config, await addApprover(place.state, "ada", systemRandom));
    const ref = String(factsOf(refused).error?.["approval_ref"]);
    expect(textsOf(refused).join("\n")).toContain(ref);
    expect((await handrail(place, ["approve", ref, "--yes"])).code).toBe(0);
    expect(await client.callTool(CALL)).toMatchObject({ ...facts({ status: "success" }) });
  });

  test("answers for itself where the operator marks nobody: it is not even asked", async () => {
    const place = placeFor("somebody-else");
    const { client, asked } = await connected(place, era, () => ONCE);
    expect(await client.callTool(CALL)).toMatchObject({
      ...facts({ error: { code: "TOOL_APPROVAL_REQUIRED" } }),
    });
    expect([asked, isWritten(place)]).toEqual([[], false]);
  });
});

test("an answer from the command line ends the question of a client that thinks, and its call goes on", async () => {
  const place = placeFor("desk");
  await saveApproverToken(place.config, await addApprover(place.state, "ada", systemRandom));
  const { client, asked } = await connected(place, "legacy", () => new Promise(() => undefined));
  const call = client.callTool(CALL);
  await until(() => asked.length === 1);
  const [listed] = dataIn<readonly { readonly approval_ref: string }[]>(
    (await handrail(place, ["approvals", "list", "--json"])).stdout,
  );
  expect((await handrail(place, ["approve", listed?.approval_ref ?? "", "--yes"])).code).toBe(0);
  expect(await call).toMatchObject({ ...facts({ status: "success" }) });
});

describe.each(ERAS)("mcpdo (%s)", (era) => {
  test("shows the form and sends what the person chose", async () => {
    const place = freshPlace();
    // Its daemon gives a server none of the variables that it has itself but HOME.
    place.put("home/.config/handrail/handrail.yaml", attending("inspector-cli"));
    const run = mcpdo(place);
    const ask = async (...args: readonly string[]) =>
      JSON.parse(await run("--format", "json", ...args)) as Record<string, unknown>;
    const { name } = await ask("connect", "--era", era, "--elicit", "form", "--", ...serverCommand(place));
    const on = (...args: readonly string[]) => ask("--connection", String(name), ...args);
    const { elicitationPending } = await on("tools/call", "write_file", "path:=CLAUDE.md", "content:=careful");
    const { elicitationId } = elicitationPending as { readonly elicitationId: string };
    expect(elicitationPending).toMatchObject({ mode: "form", message: expect.stringContaining("│ +careful") });
    expect(isWritten(place)).toBe(false);
    expect(await on("elicitation/respond", elicitationId, "decision:=approve once")).toMatchObject({
      ...facts({ status: "success" }),
    });
    expect(isWritten(place)).toBe(true);
  });
});
