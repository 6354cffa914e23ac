/** Calls of upstream tools that a client or the kill switch ends, and what running ones tell; all through a kernel. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ProgressReport } from "../../../../../src/model/outcome/progress.ts";
import { DOUBLE } from "../../../../support/upstream-double.ts";
import { type Behaviour, described, realServer, upstreamPlace, wishFor } from "../../../../support/upstream-place.ts";

const TIMEOUT = { timeout: 180_000 };
const TOOLS = [described("say")];
/** When the server would write, long after it was told to stop. */
const LATER_MS = 6000;

/** A place whose server has a directory of its own, which it may write. */
async function writingPlace() {
  const place = await upstreamPlace();
  const own = join(place.state, "upstream/double");
  place.put("state/upstream/double/server.mjs", DOUBLE);
  const behave = (behaviour: Behaviour) => writeFileSync(join(own, "behaviour.json"), JSON.stringify(behaviour));
  behave({ tools: TOOLS });
  await place.bring("double", wishFor(["node", "/workspace/server.mjs"]));
  expect(await place.call("mcp.double.say", { text: "a" })).toMatchObject({ kind: "success" });
  behave({ tools: TOOLS, call: "writesLater", file: "/workspace/written.txt", laterMs: LATER_MS });
  return { place, written: join(own, "written.txt") };
}

test("what a call would do later happens while somebody waits for it", TIMEOUT, async () => {
  const { place, written } = await writingPlace(); // control of the next two
  const ending = new AbortController();
  const call = place.call("mcp.double.say", { text: "a" }, ending.signal);
  await expect.poll(() => existsSync(written), { timeout: 60_000 }).toBe(true);
  ending.abort();
  await call;
});

test("a call that its client cancels is ended with its sandbox, and writes nothing later", TIMEOUT, async () => {
  const { place, written } = await writingPlace();
  const ending = new AbortController();
  const call = place.call("mcp.double.say", { text: "a" }, ending.signal);
  setTimeout(() => ending.abort(), 500);
  expect(await call).not.toMatchObject({ kind: "success" });
  await wait(LATER_MS + 1000);
  expect(existsSync(written)).toBe(false);
});

test("the kill switch ends it as well", TIMEOUT, async () => {
  const { place, written } = await writingPlace();
  const call = place.call("mcp.double.say", { text: "a" });
  await wait(500);
  await place.kernel.freezes.kill({ scope: "all" }, { by: "ann", reason: "stop" });
  expect(await call).not.toMatchObject({ kind: "success" });
  await wait(LATER_MS + 1000);
  expect(existsSync(written)).toBe(false);
});

test("what a server says of its progress reaches the caller without secrets", TIMEOUT, async () => {
  const place = await upstreamPlace();
  place.behave({ tools: TOOLS, call: "progress", steps: 5, words: `copying ${SECRET}` });
  await place.bring("double", place.double);
  const heard: ProgressReport[] = [];
  const outcome = await place.call("mcp.double.say", { text: "a" }, undefined, (report) => void heard.push(report));
  expect(outcome).toMatchObject({ kind: "success", data: { text: "done" } });
  expect(heard[0]).toMatchObject({ kind: "progress", completed: 1, total: 5 });
  expect(JSON.stringify(heard)).toContain("copying");
  expect(JSON.stringify(heard)).not.toContain(SECRET);
  // five within a moment are too many to read
  expect(heard.length).toBeLessThan(5);
});

test("progress of server-everything reaches the caller", TIMEOUT, async () => {
  const place = await upstreamPlace();
  await place.bring("everything", realServer("everything"));
  const heard: ProgressReport[] = [];
  const outcome = await place.call(
    "mcp.everything.trigger-long-running-operation",
    { duration: 1, steps: 4 },
    undefined,
    (report) => void heard.push(report),
  );
  expect(outcome).toMatchObject({ kind: "success" });
  expect(heard).toContainEqual(expect.objectContaining({ kind: "progress", total: 4 }));
});

/** A token in the shape of a well-known service's, which is nobody's. */
const SECRET = `ghp_${"aB3dE5fG7h".repeat(4).slice(0, 36)}`;
