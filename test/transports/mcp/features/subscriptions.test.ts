// Clients hear of changes to what they have subscribed to, in both eras; nobody hears of another session's.
import { request } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import type { KernelDoor } from "../../../../src/kernel/index.ts";
import { SUBSCRIPTIONS_MAX } from "../../../../src/transports/mcp/features/resource-subscriptions.ts";
import { sessionFeatures } from "../../../../src/transports/mcp/features/session-features.ts";
import { LISTENING_MAX } from "../../../../src/transports/mcp/modern.ts";
import { answering } from "../../../support/answering-tool.ts";
import { cancel, connectTo, initialize, type Line, legacy, modern } from "../../../support/mcp-connection.ts";
import { BOUND } from "../../../support/mcp-desk.ts";
import { bearer, modernHeaders, SENT, serveMcpPlace } from "../../../support/mcp-http-place.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";

const TOOLS = "handrail://session/tools";
const CONTENT = `handrail://content/${"a".repeat(64)}`;
const LARGE = "0123456789abcde\n".repeat(80_000);
const ANSWERING = { name: "answering", arguments: {} };
const RESOURCE_UPDATED = "notifications/resources/updated";
const LIST_CHANGED = "notifications/resources/list_changed";
/** Longer than changes are looked for, many times over. */
const QUIET_MS = 3_000;

let last = 0;
const featuresOf = (door: KernelDoor, sessionToken: string) =>
  sessionFeatures({ door, sessionToken, newRequestId: () => `s${++last}` });

/** A kernel whose session loses a tool when the test says so. */
async function place() {
  const kernel = await memoryKernel({ tools: [answering(() => ({ text: LARGE }))] });
  let isNarrowed = false;
  let looks = 0;
  const door: KernelDoor = {
    ...kernel.door,
    offered: async (token) => {
      looks += 1;
      const all = await kernel.door.offered(token);
      return isNarrowed ? all.filter(({ name }) => name !== "write_file") : all;
    },
  };
  return {
    kernel,
    door,
    /** The session loses a tool, once somebody has looked at its tools as they are. */
    narrow: async () => {
      const before = looks;
      await vi.waitFor(() => expect(looks).toBeGreaterThan(before + 1), BOUND);
      isNarrowed = true;
    },
  };
}

function client(door: KernelDoor, token: string) {
  const connection = connectTo(door, token, { features: featuresOf(door, token) });
  onTestFinished(() => void connection.input.destroy());
  const find = (is: (line: Line) => boolean) =>
    vi.waitFor(() => {
      const line = connection.lines().find(is);
      if (line === undefined) throw new Error("the line does not come");
      return line as Line & { readonly result: JsonObject; readonly params: JsonObject };
    }, BOUND);
  return {
    ...connection,
    answer: (id: unknown) => find((line) => line.id === id),
    note: (method: string) => find((line) => line["method"] === method),
    notes: (method: string) => connection.lines().filter((line) => line["method"] === method),
  };
}

describe("a legacy client", () => {
  test("hears of a resource that it has subscribed to, and no more after it has unsubscribed", async () => {
    const { kernel, door, narrow } = await place();
    const [watching, gone] = [client(door, kernel.token), client(door, kernel.token)];
    for (const each of [watching, gone])
      each.write(initialize(), legacy(1, "resources/subscribe", { uri: TOOLS }), legacy(2, "ping"));
    gone.write(legacy(3, "resources/unsubscribe", { uri: TOOLS }));
    expect((await watching.answer("init")).result["capabilities"]).toMatchObject({
      resources: { subscribe: true, listChanged: true },
    });
    expect((await watching.answer(1)).result).toEqual({});
    expect((await gone.answer(3)).result).toEqual({});
    await narrow();
    expect((await watching.note(RESOURCE_UPDATED)).params).toEqual({ uri: TOOLS });
    watching.write(legacy(4, "resources/read", { uri: TOOLS }));
    const [read] = (await watching.answer(4)).result["contents"] as readonly JsonObject[];
    expect(String(read?.["text"])).toContain('"read_file"');
    expect(String(read?.["text"])).not.toContain('"write_file"');
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    expect([watching.notes(RESOURCE_UPDATED).length, gone.notes(RESOURCE_UPDATED).length]).toEqual([1, 0]);
  });

  test("hears of a new link once it has listed its resources", async () => {
    const { kernel, door } = await place();
    const [listing, silent] = [client(door, kernel.token), client(door, kernel.token)];
    listing.write(initialize(), legacy(1, "resources/list"));
    await listing.answer(1);
    silent.write(initialize(), legacy(2, "tools/call", ANSWERING));
    listing.write(legacy(2, "tools/call", ANSWERING), legacy(3, "tools/call", ANSWERING));
    await listing.note(LIST_CHANGED);
    for (const each of [listing, silent]) await each.answer(2);
    await listing.answer(3);
    expect([listing.notes(LIST_CHANGED).length, silent.notes(LIST_CHANGED).length]).toEqual([1, 0]);
  });

  test("subscribes to content by its hash, which never changes, but to nothing that is no resource", async () => {
    const { kernel, door } = await place();
    const { write, answer } = client(door, kernel.token);
    write(
      initialize(),
      legacy(1, "resources/subscribe", { uri: CONTENT }),
      legacy(2, "resources/subscribe", { uri: "file:///etc/passwd" }),
    );
    expect((await answer(1)).result).toEqual({});
    expect((await answer(2)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("no such resource"),
    });
  });

  test("has a limited number of them", async () => {
    const { kernel, door } = await place();
    const { write, answer } = client(door, kernel.token);
    write(initialize());
    const many = Array.from({ length: SUBSCRIPTIONS_MAX + 1 }, (_, index) => index);
    write(...many.map((index) => legacy(index, "resources/subscribe", { uri: `${CONTENT}?offset=${index}` })));
    expect((await answer(SUBSCRIPTIONS_MAX - 1)).result).toEqual({});
    expect((await answer(SUBSCRIPTIONS_MAX)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("unsubscribe"),
    });
    write(legacy("less", "resources/unsubscribe", { uri: `${CONTENT}?offset=0` }));
    write(legacy("again", "resources/subscribe", { uri: `${CONTENT}?offset=0` }));
    expect((await answer("again")).result).toEqual({});
  });
});

describe("a modern client", () => {
  const listen = (id: string, notifications: object) => modern(id, "subscriptions/listen", { notifications });

  test("hears of what it listens for, until it ends that", async () => {
    const { kernel, door, narrow } = await place();
    const { write, note, notes, answer } = client(door, kernel.token);
    write(listen("s", { resourcesListChanged: true, resourceSubscriptions: [TOOLS, CONTENT] }));
    expect((await note("notifications/subscriptions/acknowledged")).params).toMatchObject({
      notifications: { resourcesListChanged: true },
    });
    write(modern(1, "tools/call", ANSWERING));
    expect((await note(LIST_CHANGED)).params["_meta"]).toMatchObject({
      "io.modelcontextprotocol/subscriptionId": "s",
    });
    await answer(1);
    await narrow();
    expect((await note(RESOURCE_UPDATED)).params).toMatchObject({ uri: TOOLS });
    expect(notes("notifications/tools/list_changed")).toEqual([]);
    write(cancel("s"));
  });

  test("is answered at once where nothing that it listens for changes", async () => {
    const { kernel, door } = await place();
    const { write, answer } = client(door, kernel.token);
    write(listen("s", { resourceSubscriptions: [CONTENT] }));
    expect((await answer("s")).result).toBeDefined();
  });

  test("has a limited number of subscriptions", async () => {
    const { kernel, door } = await place();
    const { write, answer, note } = client(door, kernel.token);
    for (let index = 0; index <= LISTENING_MAX; index += 1) write(listen(`s${index}`, { toolsListChanged: true }));
    expect((await answer(`s${LISTENING_MAX}`)).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining("end one of them"),
    });
    write(cancel("s0"));
    write(modern(1, "server/discover"));
    await answer(1);
    await vi.waitFor(async () => {
      last += 1;
      write(listen(`t${last}`, { promptsListChanged: true, resourceSubscriptions: [CONTENT] }));
      expect((await answer(`t${last}`)).error).toBeUndefined();
    }, BOUND);
    await note("notifications/subscriptions/acknowledged");
  });
});

/** Opens a stream of events, and gives what came on it. */
function stream(port: number, message: ReturnType<typeof modern>, token: string) {
  let text = "";
  const headers = { ...SENT, ...modernHeaders(message), ...bearer(token) };
  const asked = request({ port, path: "/mcp", method: "POST", headers }, (response) => {
    response.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
  });
  asked.on("error", () => undefined).end(JSON.stringify(message));
  onTestFinished(() => void asked.destroy());
  return () => text;
}

test("no session hears of another's links or tools over HTTP", async () => {
  const [{ kernel, door, narrow }, other] = [await place(), await memoryKernel()];
  const both: KernelDoor = {
    ...door,
    admit: (asker) => (asker.sessionToken === other.token ? other : kernel).door.admit(asker),
    offered: (token) => (token === other.token ? other.door : door).offered(token),
  };
  const served = await serveMcpPlace(both, { offers: (token) => ({ features: featuresOf(both, token) }) });
  const all = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: [TOOLS] };
  const message = modern("s", "subscriptions/listen", { notifications: all });
  const [own, foreign] = [kernel.token, other.token].map((token) => stream(served.port, message, token));
  for (const each of [own, foreign]) await vi.waitFor(() => expect(each?.()).toContain("acknowledged"), BOUND);
  stream(served.port, modern(1, "tools/call", ANSWERING), kernel.token);
  await vi.waitFor(() => expect(own?.()).toContain(LIST_CHANGED), BOUND);
  await narrow();
  // the control: whose they are hears of both
  await vi.waitFor(() => expect(own?.()).toContain(RESOURCE_UPDATED), BOUND);
  expect(own?.()).toContain("notifications/tools/list_changed");
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  for (const note of [LIST_CHANGED, RESOURCE_UPDATED, "notifications/tools/list_changed"])
    expect(foreign?.()).not.toContain(note);
});
