// Agents are named after their clients: what one does holds for all of its name, across restarts, and for no other.
import { expect, test } from "vitest";
import { dataIn, handrail } from "../../../support/command-line.ts";
import { factsOf } from "../../../support/mcp-result.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { type RpcClient, startRpc } from "../../../support/rpc-client.ts";

async function client(place: Place, name: string, args: readonly string[] = []): Promise<RpcClient> {
  const started = startRpc(place, args);
  const clientInfo = { name, version: "1" };
  await started.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  started.notify("notifications/initialized");
  return started;
}

const codeOf = (answer: unknown) => factsOf(answer).error?.["code"] ?? "ok";
const violate = async (one: RpcClient) => codeOf(await one.call("read_file", { path: "../x" }));
const read = async (one: RpcClient) => codeOf(await one.call("read_file", { path: "a.md" }));

test("one client's violations freeze it and not another, and its next process is frozen, too; a name of the operator's stands", async () => {
  const place = freshPlace();
  place.put("workspace/a.md", "text\n");
  const [bad, good, named] = await Promise.all([
    client(place, "Bad Editor"),
    client(place, "good-editor"),
    client(place, "Bad Editor", ["--agent", "reviewer"]),
  ]);
  for (let count = 0; count < 6; count += 1) expect(await violate(bad)).toBe("WORKSPACE_PATH_TRAVERSAL");
  expect([await read(bad), await read(good), await read(named)]).toEqual(["SESSION_FROZEN", "ok", "ok"]);
  // another spelling is no other client, and what was seen stays with the name as well
  const again = await client(place, "bad  EDITOR");
  expect(await read(again)).toBe("SESSION_FROZEN");
  const sessions = dataIn<readonly { readonly agentId: string; readonly process?: number }[]>(
    (await handrail(place, ["sessions", "list", "--json"])).stdout,
  );
  expect(sessions.map(({ agentId, process }) => [agentId, typeof process]).sort()).toEqual([
    ["bad-editor", "number"],
    ["bad-editor", "number"],
    ["good-editor", "number"],
    ["reviewer", "undefined"],
  ]);
  const { stdout } = await handrail(place, ["sessions", "list"]);
  for (const { agentId, process } of sessions.filter((one) => one.process !== undefined))
    expect(stdout).toContain(` ${agentId}#${process} `);
  const marks = dataIn<readonly { readonly agentId: string }[]>(
    (await handrail(place, ["labels", "list", "--json"])).stdout,
  );
  expect(new Set(marks.map(({ agentId }) => agentId))).toEqual(new Set(["good-editor", "reviewer"]));
  const lifted = await handrail(place, [
    "resume",
    "--principal",
    `${userOf(marks)}/bad-editor#1`,
    "--workspace",
    place.workspace,
  ]);
  expect([lifted.code, await read(again)]).toEqual([0, "ok"]);
});

function userOf(marks: readonly object[]): string {
  return String((marks[0] as { readonly userId?: string }).userId);
}
