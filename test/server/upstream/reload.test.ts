/** Changes of upstream servers that a running kernel takes over, and what becomes of their processes. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openKernel } from "../../../src/server/compose.ts";
import { readEvidence } from "../../support/evidence.ts";
import { connectTo, initialize, legacy } from "../../support/mcp-connection.ts";
import { described, type UpstreamPlace, upstreamPlace, wishFor } from "../../support/upstream-place.ts";

const TIMEOUT = { timeout: 180_000 };
const TOOLS = [described("say")];
const POLLING = { timeout: 60_000, interval: 100 };

/** What the command line does beside a running kernel: it opens one of its own on the same directories. */
async function beside(place: UpstreamPlace, act: (desk: Desk) => Promise<unknown>): Promise<void> {
  const other = await openKernel({
    environment: {},
    stateDirectory: place.state,
    configDirectory: place.config,
    onInternalError: () => undefined,
    onWarning: () => undefined,
  });
  try {
    await act(await other.upstream());
  } finally {
    await other.close();
  }
}

type Desk = Awaited<ReturnType<UpstreamPlace["kernel"]["upstream"]>>;

async function addAndApprove(desk: Desk, place: UpstreamPlace, wish = place.double): Promise<void> {
  const { hash } = await desk.add("double", wish);
  await desk.approve("double", { seen: hash, by: "ann" });
}

const offers = async (place: UpstreamPlace, name: string) => (await place.offered()).some((tool) => tool.name === name);

test("a server that is added, changed and removed beside a running kernel is taken over by it", TIMEOUT, async () => {
  const place = await upstreamPlace();
  place.behave({ tools: TOOLS });
  expect(await offers(place, "mcp.double.say")).toBe(false); // control
  await beside(place, (desk) => addAndApprove(desk, place));
  await expect.poll(() => offers(place, "mcp.double.say"), POLLING).toBe(true);
  expect(await place.call("mcp.double.say", { text: "a" })).toMatchObject({ kind: "success" });

  place.behave({ tools: [...TOOLS, described("tell")] });
  await beside(place, async (desk) => {
    const { hash } = await desk.show("double");
    await desk.approve("double", { seen: hash, by: "ann" });
  });
  await expect.poll(() => offers(place, "mcp.double.tell"), POLLING).toBe(true);

  await beside(place, (desk) => desk.remove("double", "ann"));
  await expect.poll(() => offers(place, "mcp.double.say"), POLLING).toBe(false);
  expect(await place.call("mcp.double.say", { text: "a" })).toMatchObject({ kind: "denied" });
  await place.kernel.close();
  const events = (await readEvidence(place.state)).filter(({ payload }) => payload["module"] === "mcp.double");
  const told = events.map(({ entry, payload }) => [entry.eventType, payload["tools"]]);
  expect(told).toContainEqual(["plugin_loaded", ["mcp.double.say", "mcp.double.tell"]]);
  expect(told.at(-1)).toEqual(["plugin_withdrawn", ["mcp.double.say", "mcp.double.tell"]]);
});

test("a client of a running kernel hears of the change, and calls what is new", TIMEOUT, async () => {
  const place = await upstreamPlace();
  place.behave({ tools: TOOLS });
  const { token } = await place.kernel.administration.createSession({
    workspace: place.workspace,
    userId: "ann",
    agentId: "agent",
  });
  const connection = connectTo(place.kernel.door, token);
  connection.write(initialize(), { jsonrpc: "2.0", method: "notifications/initialized" }, legacy(1, "tools/list"));
  await connection.until(2);
  const changes = () => connection.lines().filter(({ method }) => method === "notifications/tools/list_changed");
  expect(changes()).toEqual([]);
  await beside(place, (desk) => addAndApprove(desk, place));
  await expect.poll(() => changes().length, POLLING).toBe(1);
  connection.write(
    legacy(2, "tools/list"),
    legacy(3, "tools/call", { name: "mcp.double.say", arguments: { text: "a" } }),
  );
  const answered = (id: number) => JSON.stringify(connection.lines().find((line) => line["id"] === id) ?? "");
  await expect.poll(() => answered(2), POLLING).toContain('"mcp.double.say"');
  await expect.poll(() => answered(3), POLLING).toContain("arguments");
  await connection.end();
});

test("a server that is removed and added again under its name has another process", TIMEOUT, async () => {
  const place = await upstreamPlace();
  place.behave({ tools: TOOLS, call: "pid" });
  const wish = { ...place.double, environment: { STARTED: "once" } };
  await beside(place, (desk) => addAndApprove(desk, place, wish));
  await expect.poll(() => offers(place, "mcp.double.say"), POLLING).toBe(true);
  const said = async () => {
    const outcome = JSON.stringify(await place.call("mcp.double.say", { text: "a" }));
    return /started \d+/.exec(outcome)?.[0] ?? outcome;
  };
  const first = await said();
  expect(await said()).toBe(first); // control: one process answers both
  await beside(place, async (desk) => {
    await desk.remove("double", "ann");
    await addAndApprove(desk, place, wish);
  });
  const isAnother = async () => {
    const now = await said();
    return now.startsWith("started") && now !== first;
  };
  await expect.poll(isAnother, POLLING).toBe(true);
});

test(
  "a call that is under way goes on while other servers change, and ends when its own is removed",
  TIMEOUT,
  async () => {
    const place = await upstreamPlace();
    place.behave({ tools: TOOLS });
    await place.bring("double", place.double);
    await place.call("mcp.double.say", { text: "a" });
    place.behave({ tools: TOOLS, hangOn: "slow" });
    let hasEnded = false;
    const slow = place.call("mcp.double.say", { text: "slow" }).finally(() => {
      hasEnded = true;
    });
    await beside(place, async (desk) => {
      const { hash } = await desk.add("other", place.double);
      await desk.approve("other", { seen: hash, by: "ann" });
    });
    await expect.poll(() => offers(place, "mcp.other.say"), POLLING).toBe(true);
    expect(await place.call("mcp.other.say", { text: "b" })).toMatchObject({ kind: "success" });
    expect(hasEnded).toBe(false);
    await beside(place, (desk) => desk.remove("double", "ann"));
    expect(await slow).toMatchObject({ kind: "error", message: expect.stringContaining("it was ended") });
  },
);

test("files that are not valid change nothing, and are told", TIMEOUT, async () => {
  const place = await upstreamPlace();
  place.behave({ tools: TOOLS });
  await place.bring("double", place.double);
  const file = join(place.config, "upstream/double.json");
  expect(existsSync(file)).toBe(true);
  writeFileSync(file, "no json", { mode: 0o600 });
  await expect.poll(() => place.warnings.some((line) => line.includes("is not JSON")), POLLING).toBe(true);
  expect(await place.call("mcp.double.say", { text: "a" })).toMatchObject({ kind: "success" });
});

test("above the limit, tools leave the list and come back to it as servers come and go", TIMEOUT, async () => {
  const place = await upstreamPlace("preset: open\nupstream: { list_max: 1 }\n");
  place.behave({ tools: TOOLS });
  await place.bring("double", place.double);
  expect(await offers(place, "mcp.double.say")).toBe(true);
  await beside(place, async (desk) => {
    const { hash } = await desk.add("other", wishFor(place.double.command, place.double));
    await desk.approve("other", { seen: hash, by: "ann" });
  });
  await expect.poll(() => offers(place, "find_tools"), POLLING).toBe(true);
  expect(await offers(place, "mcp.double.say")).toBe(false);
  await beside(place, (desk) => desk.remove("other", "ann"));
  await expect.poll(() => offers(place, "mcp.double.say"), POLLING).toBe(true);
  expect(await offers(place, "find_tools")).toBe(false);
});
