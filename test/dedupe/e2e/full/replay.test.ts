/**
 * A dedupe key across processes: kernels that race, a kernel that comes later, and one that is killed while it
 * executes.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataIn, handrail, oneJsonLine, startHandrail, until } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const RACERS = 4;
/** Milliseconds for four commands one after the other, on a machine with much else to do. */
const KILLED_MS_MAX = 120_000;

/** A session of the place's workspace; its token. */
async function openSession(place: Place): Promise<string> {
  const { stdout } = await handrail(place, ["sessions", "create", "--workspace", place.workspace, "--json"]);
  return dataIn<{ token: string }>(stdout).token;
}

function callOf(
  token: string,
  tool: string,
  args: object,
  more: readonly string[] = ["--dedupe-key", "once"],
): string[] {
  return ["call", tool, "--session", token, "--json", JSON.stringify(args), ...more];
}

const append = { path: "log.txt", content: "one line\n", append: true };

test("CTR-0003: four processes race with one key; the file is written once, all print the same, and so does a later one", async () => {
  const place = freshPlace();
  const token = await openSession(place);
  const racers = await Promise.all(
    Array.from({ length: RACERS }, () => handrail(place, callOf(token, "write_file", append))),
  );
  const later = await handrail(place, callOf(token, "write_file", append));
  expect(new Set([...racers, later].map(({ code, stdout }) => `${code} ${stdout}`)).size).toBe(1);
  expect(later).toMatchObject({ code: 0, stdout: expect.stringContaining('"status":"success"') });
  expect(readFileSync(join(place.workspace, "log.txt"), "utf8")).toBe("one line\n");
  const types = (await readEvidence(place.state)).map(({ entry }) => entry.eventType);
  expect(types.filter((type) => type === "tool_executed")).toHaveLength(1);
  expect(types.filter((type) => type === "tool_replayed")).toHaveLength(RACERS);

  const another = await handrail(place, callOf(token, "write_file", { ...append, content: "another\n" }));
  expect(another).toMatchObject({ code: 3, stdout: expect.stringContaining('"code":"DEDUPE_CONFLICT"') });
});

test("control: without a key every process writes", async () => {
  const place = freshPlace();
  const token = await openSession(place);
  await Promise.all(Array.from({ length: 2 }, () => handrail(place, callOf(token, "write_file", append, []))));
  expect(readFileSync(join(place.workspace, "log.txt"), "utf8")).toBe("one line\none line\n");
});

test.each([
  ["before intent", "OUTCOME_UNKNOWN", ""],
  ["after intent", "OUTCOME_UNKNOWN", ""],
  ["before outcome", "OUTCOME_UNKNOWN", "one line\n"],
  ["after outcome", "success", "one line\n"],
])(
  "a kernel that is killed %s leaves a retry with %s, and executes nothing twice",
  async (step, answer, content) => {
    const place = freshPlace();
    place.put("workspace/log.txt", "");
    const token = await openSession(place);
    const killed = await handrail(place, callOf(token, "write_file", append), {
      fromSources: true,
      environment: {
        NODE_OPTIONS: `--import=${new URL("../../../support/children/kill-at.ts", import.meta.url).href}`,
        TEST_KILL_AT: step,
      },
    });
    expect(killed).toMatchObject({ code: "SIGKILL", stdout: "" });
    const retries = [];
    for (let count = 0; count < (answer === "success" ? 2 : 1); count += 1)
      retries.push(await handrail(place, callOf(token, "write_file", append), { fromSources: true }));
    for (const { stdout } of retries)
      expect(stdout).toContain(answer === "success" ? '"status":"success"' : `"code":"${answer}"`);
    expect(readFileSync(join(place.workspace, "log.txt"), "utf8")).toBe(content);
    const evidence = await readEvidence(place.state);
    const ended = evidence.filter(({ entry }) => entry.closes !== 0);
    expect(ended.map(({ entry }) => entry.eventType)).toEqual(
      step === "before intent" ? [] : [answer === "success" ? "tool_executed" : "tool_outcome_unknown"],
    );
    if (answer !== "success") return;
    expect(retries[0]).toEqual(retries[1]);
    const answered = oneJsonLine<{ ledger_sequence?: number; ledgerSequence?: number }>(retries[0]?.stdout ?? "");
    expect(JSON.stringify(answered)).toContain(String(ended[0]?.entry.sequence));
    expect(evidence.filter(({ entry }) => entry.eventType === "tool_replayed")).toHaveLength(2);
  },
  KILLED_MS_MAX,
);

test("a kernel is killed while it executes: who waits for it and who asks later hears that the outcome is unknown", async () => {
  const place = freshPlace();
  place.put("workspace/held.txt", "held\n");
  const token = await openSession(place);
  const lasting = callOf(token, "shell", { command: "sleep 600; echo changed > held.txt", timeout_ms: 600_000 });
  const victim = startHandrail(place, lasting);
  await until(async () =>
    (await readEvidence(place.state)).some(({ entry, payload }) => entry.intent && payload["tool"] === "shell"),
  );
  const waiting = handrail(place, lasting);
  await until(
    async () =>
      (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "kernel_started").length === 3,
  );
  victim.kill("SIGKILL");
  const unknown = { code: 3, stdout: expect.stringContaining('"code":"OUTCOME_UNKNOWN"') };
  expect(await waiting).toMatchObject(unknown);
  expect(await handrail(place, lasting)).toMatchObject(unknown);
  expect(readFileSync(join(place.workspace, "held.txt"), "utf8")).toBe("held\n");
  expect(existsSync(join(place.state, "dedupe.db"))).toBe(true);
  const closing = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "tool_outcome_unknown");
  expect(closing).toHaveLength(1);
});
