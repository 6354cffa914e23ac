/** A terminal that goes away (SIGHUP) ends every command that holds a kernel as SIGTERM does: what runs is ended, put in order and recorded. */
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collect, startHandrail, until } from "../support/command-line.ts";
import { readEvidence } from "../support/evidence.ts";
import { freshPlace, type Place } from "../support/place.ts";
import { connectRpc } from "../support/rpc-client.ts";

const SIGNALS = ["SIGTERM", "SIGHUP"] as const;
/** Makes a file that people's tools obey, and lasts. */
const COMMAND = "echo x > CLAUDE.md; touch started; sleep 300";

async function expectTidy(place: Place): Promise<void> {
  expect(existsSync(join(place.workspace, "CLAUDE.md"))).toBe(false); // it was put aside
  expect(readdirSync(place.workspace).join()).toContain("CLAUDE.md");
  const types = (await readEvidence(place.state)).map(({ entry }) => entry.eventType);
  expect(types).toContain("session_revoked");
  expect(types).toContain("tool_executed");
  expect(types).not.toContain("tool_outcome_unknown");
}

test.each(SIGNALS)(
  "%s ends `handrail mcp` tidily while a command runs",
  async (signal) => {
    const place = freshPlace();
    const client = await connectRpc(place, ["--preset", "open"]);
    client.call("shell", { command: COMMAND }).catch(() => undefined);
    await until(() => existsSync(join(place.workspace, "started")));
    client.process.kill(signal);
    expect(await client.ended).toBe("0");
    await expectTidy(place);
  },
  60_000,
);

test.each(SIGNALS)(
  "%s ends `handrail call` tidily while its command runs",
  async (signal) => {
    const place = freshPlace();
    const args = ["call", "shell", "--preset", "open", "--workspace", place.workspace, "--json", JSON.stringify({ command: COMMAND })];
    const child = startHandrail(place, args);
    const output = collect(child);
    await until(() => existsSync(join(place.workspace, "started")));
    child.kill(signal);
    expect(await once(child, "close")).toEqual([3, null]);
    expect(JSON.parse(output().stdout)).toMatchObject({ data: { ended_by: "cancelled" } });
    await expectTidy(place);
  },
  60_000,
);

test.each(SIGNALS)(
  "%s ends `handrail serve` with 0",
  async (signal) => {
    const place = freshPlace();
    const child = startHandrail(place, ["serve"]);
    const output = collect(child);
    await until(() => output().stderr.includes("listening on"));
    child.kill(signal);
    expect(await once(child, "close")).toEqual([0, null]);
  },
  60_000,
);
