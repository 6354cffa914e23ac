/**
 * A terminal that goes away (SIGHUP) ends every command that holds a kernel as SIGTERM does: what runs is ended, put in
 * order and recorded.
 */
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { ToolRequestSchema } from "../../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { connectFramed } from "../../../../src/transports/framed/index.ts";
import { collect, dataIn, handrail, startHandrail, until } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { connectRpc } from "../../../support/rpc-client.ts";
import { processesNaming } from "../../../support/sandbox-place.ts";

const SIGNALS = ["SIGTERM", "SIGHUP"] as const;
let commands = 0;

/** A command that makes a file that people's tools obey, and lasts; and the word by which it is known. */
function lasting(): { readonly word: string; readonly command: string } {
  commands += 1;
  const word = `300.${process.pid}${commands}`;
  return { word, command: `echo x > CLAUDE.md; echo x > own.txt; word=${word}; sleep $word` };
}

async function expectTidy(place: Place): Promise<void> {
  expect(["CLAUDE.md", "own.txt"].filter((name) => existsSync(join(place.workspace, name)))).toEqual([]);
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
    const { word, command } = lasting();
    client.call("shell", { command }).catch(() => undefined);
    await until(() => processesNaming(`sleep ${word}`).length > 0);
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
    const { word, command } = lasting();
    const args = [
      "call",
      "shell",
      "--preset",
      "open",
      "--workspace",
      place.workspace,
      "--json",
      JSON.stringify({ command }),
    ];
    const child = startHandrail(place, args);
    const output = collect(child);
    await until(() => processesNaming(`sleep ${word}`).length > 0);
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

test.each(SIGNALS)(
  "%s ends `handrail serve` tidily while a command runs, with its processes, its view and its mounts",
  async (signal) => {
    const place = freshPlace();
    const child = startHandrail(place, ["serve"]);
    const output = collect(child);
    await until(() => output().stderr.includes("listening on"));
    const created = await handrail(place, [
      "sessions",
      "create",
      "--preset",
      "open",
      "--workspace",
      place.workspace,
      "--json",
    ]);
    const { token } = dataIn<{ token: string }>(created.stdout);
    const client = await connectFramed(join(place.state, "handrail.sock"));
    onTestFinished(() => client.close());
    const { word, command } = lasting();
    const argumentsJson = Buffer.from(JSON.stringify({ command }));
    const tool = { case: "call", value: { name: "shell", argumentsJson } } as const;
    client.execute(create(ToolRequestSchema, { requestId: "r-1", sessionToken: token, tool })).catch(() => undefined);
    await until(() => processesNaming(`sleep ${word}`).length > 0);
    // the view of the next command may be in the making
    const uppers = viewsOf(place)
      .map((view) => join(view, "upper"))
      .filter((upper) => existsSync(upper));
    expect(uppers.map((upper) => readdirSync(upper).sort())).toContainEqual(["CLAUDE.md", "own.txt"]);
    expect(mountsNaming(place.base)).not.toEqual([]);
    child.kill(signal);
    expect(await once(child, "close")).toEqual([0, null]);
    expect([processesNaming(word), mountsNaming(place.base), viewsOf(place)]).toEqual([[], [], []]);
    expect(["CLAUDE.md", "own.txt"].filter((name) => existsSync(join(place.workspace, name)))).toEqual([]);
    const types = (await readEvidence(place.state)).map(({ entry }) => entry.eventType);
    expect(types).toContain("tool_executed");
    expect(types).not.toContain("tool_outcome_unknown");
  },
  60_000,
);

/** Directories of views that are there; what a session keeps for itself is none. */
function viewsOf(place: Place): readonly string[] {
  const names = readdirSync(join(place.state, "views")).filter((name) => !name.startsWith("scratch-"));
  return names.map((name) => join(place.state, "views", name));
}

/** Processes of the machine in whose namespaces something of `base` is mounted. */
function mountsNaming(base: string): readonly string[] {
  return readdirSync("/proc").filter((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/mountinfo`, "utf8").includes(base);
    } catch {
      return false; // it ended meanwhile
    }
  });
}
