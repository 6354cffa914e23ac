// What a person is told about a call: facts, differences and risks, without secrets, bounded, and honest about what is
// left out.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { APPROVAL_DOCUMENT_BYTES_MAX } from "../../../../src/approval/requests/request.ts";
import { canonicalJson, type JsonObject } from "../../../../src/base/json.ts";
import { PROMPT_FILE_BYTES_MAX } from "../../../../src/kernel/ask/approval-text/preview.ts";
import { describeCall } from "../../../../src/kernel/ask/approval-text/prompt.ts";
import type { Decided } from "../../../../src/kernel/call/stages.ts";
import { WorkspaceLook } from "../../../../src/kernel/call/workspace-look.ts";
import { CallRedaction } from "../../../../src/kernel/redaction/redaction.ts";
import type { AskingRule } from "../../../../src/model/approval/approval.ts";
import { UNRESTRICTED_SCOPE } from "../../../../src/model/people/lease.ts";
import { resolveWorkspacePath } from "../../../../src/model/place/workspace.ts";
import type { Tool } from "../../../../src/model/tool/tool.ts";
import { createRedactor } from "../../../../src/redact/redact.ts";
import { editFile } from "../../../../src/tools/edit/edit-file.ts";
import { deleteFile } from "../../../../src/tools/file/delete-file.ts";
import { writeFile } from "../../../../src/tools/file/write-file.ts";
import { git } from "../../../../src/tools/git/git.ts";
import { webFetch } from "../../../../src/tools/web/web-fetch.ts";
import { newPlace, type Place } from "../../../support/files-fixture.ts";

/** Put together here, so that this file holds no secret. */
const KEY = ["AKIA", "Z7QK3LMN", "2PXWRTV4"].join("");
const RULES: readonly AskingRule[] = [{ ruleId: "dev.write-protected", rationale: "people's tools obey this file" }];

let place: Place;
beforeEach(() => {
  place = newPlace();
});
afterEach(() => place.close());

const put = (path: string, content: string | Uint8Array) => writeFileSync(join(place.root, path), content);

function decidedCall(tool: Tool<never>, args: JsonObject, more: object = {}): Decided {
  const parsed = (tool.parameters as Tool["parameters"]).parse(args);
  const { workspace, roots } = place;
  const accesses = tool.analyse(parsed as never).map((access) => {
    if (access.resource.kind !== "file") return access;
    const resolved = resolveWorkspacePath(workspace, access.resource.path);
    if (!resolved.ok) throw new Error("outside");
    return { ...access, target: { place: resolved.value, zone: workspace.zones.classify(resolved.value) } };
  });
  const session = {
    id: "ses_1",
    userId: "ada",
    agentId: "helper",
    role: "dev",
    mode: "default",
    serviceRoot: place.root,
  };
  const caller = {
    session,
    lease: { id: "lse_1", scope: UNRESTRICTED_SCOPE },
    place: { workspace, roots },
    gates: { modes: new Map(), skills: new Map() },
    mark: { trustLevel: "verified", dataClass: "internal" },
    ...more,
  };
  const redaction = new CallRedaction(createRedactor());
  const look = new WorkspaceLook({});
  return {
    call: { tool: tool.name, arguments: args },
    caller,
    tool,
    args: parsed,
    accesses,
    redaction,
    look,
  } as unknown as Decided;
}

async function described(tool: unknown, args: JsonObject, more: object = {}, rules = RULES) {
  const sent = { shown: [], isCut: false };
  const secretsFor = (host: string, port: number) => (host === "api.example" && port === 443 ? ["API_KEY"] : []);
  return describeCall(decidedCall(tool as Tool<never>, args, more), rules, {
    files: place.files,
    secretsFor,
    sent,
    covers: [],
  });
}

const changesOf = async (tool: unknown, args: JsonObject) => (await described(tool, args)).details.changes;

test("a request holds what was judged, by whom it is asked, what they have seen, and what would change", async () => {
  put("AGENTS.md", "one\ntwo\n");
  const args = { path: "AGENTS.md", content: "one\n2\n" };
  expect(await described(writeFile, args)).toEqual({
    id: "write_file:execute",
    tool: "write_file",
    action: "execute",
    summary: "`write_file`: write 1 protected file",
    risks: ["changes a protected file (`AGENTS.md`): most coding agents read it as instructions in every session"],
    details: {
      kind: "execute",
      rules: [{ ruleId: "dev.write-protected", rationale: "people's tools obey this file" }],
      userId: "ada",
      agentId: "helper",
      role: "dev",
      sessionId: "ses_1",
      workspace: place.root,
      workDir: place.root,
      seen: { trustLevel: "verified", dataClass: "internal" },
      accesses: [{ kind: "file", effect: "write", path: "AGENTS.md", zone: "protected" }],
      changes: [
        {
          path: "AGENTS.md",
          kind: "modify",
          bytesBefore: 8,
          bytesAfter: 6,
          diff: "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
          linesOmitted: 0,
        },
      ],
      arguments: args,
    },
  });
});

test("of a clone it is said what may land, because nobody has seen any of it", async () => {
  const call = { operation: "CLONE", args: ["https://git.example/team.git", "new"] };
  expect((await described(git, call)).risks).toContainEqual(
    expect.stringMatching(/^whatever the repository holds lands, /),
  );
  expect((await described(git, { operation: "FETCH", args: [] })).risks.join()).not.toContain("whatever");
});

test("a danger pattern names the request and heads its risks", async () => {
  const rules = [...RULES, { ruleId: "DANGER:write_file:1" }];
  expect(await described(writeFile, { path: "a", content: "x" }, {}, rules)).toMatchObject({
    id: "write_file:danger",
    action: "dangerous_operation",
    risks: ["the call matches the danger rule `DANGER:write_file:1`"],
    details: { kind: "danger" },
  });
});

test("what the agent has seen before is a risk, and what everybody has seen is none", async () => {
  const risks = async (trustLevel: string, dataClass: string) =>
    (await described(writeFile, { path: "a", content: "x" }, { mark: { trustLevel, dataClass } })).risks;
  expect(await risks("verified", "internal")).toEqual([]);
  expect(await risks("untrusted", "sensitive")).toEqual([
    "the agent has read untrusted content, which may be what asks for this",
    "the agent has seen sensitive data, which may be in what it writes or sends",
  ]);
});

test("secrets that requests can be made with are a risk, by their names", async () => {
  const said = "requests to api.example:443 can be made with the secrets API_KEY";
  expect((await described(webFetch, { url: "https://api.example/v1" })).risks).toContain(said);
  const other = await described(webFetch, { url: "https://api.example:8443/v1" });
  expect(JSON.stringify(other)).not.toContain("API_KEY");
});

describe("what would change", () => {
  test("a new file, one more at its end, and one that is gone", async () => {
    put("f", "a\n");
    expect(await changesOf(writeFile, { path: "n", content: "x\n" })).toEqual([
      { path: "n", kind: "create", bytesAfter: 2, diff: "--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+x\n", linesOmitted: 0 },
    ]);
    expect(await changesOf(writeFile, { path: "f", content: "b\n", append: true })).toMatchObject([
      { kind: "modify", bytesBefore: 2, bytesAfter: 4, diff: "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n a\n+b\n" },
    ]);
    expect(await described(deleteFile, { path: "f" })).toMatchObject({
      risks: ["deletes 1 file"],
      details: {
        changes: [
          { path: "f", kind: "delete", bytesBefore: 2, diff: "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n", linesOmitted: 0 },
        ],
      },
    });
    expect(readFileSync(join(place.root, "f"), "utf8")).toBe("a\n");
  });

  test("an edit is shown by the very engine that makes it", async () => {
    put("f", "one\ntwo\n");
    const edits = [{ operation: "replace", spec: "two", content: "2" }];
    expect(await changesOf(editFile, { path: "f", edits })).toMatchObject([
      { diff: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n" },
    ]);
  });

  test("a call that would fail says so instead: nothing matches, no file, one too many", async () => {
    put("f", "one\n");
    const unseen = async (tool: unknown, args: JsonObject) => (await described(tool, args)).details.unseen;
    expect(await unseen(editFile, { path: "f", edits: [{ operation: "delete", spec: "none" }] })).toContain(
      "the file has 0",
    );
    expect(await unseen(editFile, { path: "g", edits: [{ operation: "delete", spec: "none" }] })).toContain(
      "does not exist",
    );
    expect(await unseen(deleteFile, { path: "g" })).toContain("does not exist");
    expect(await unseen(writeFile, { path: "f", content: "", create_only: true })).toContain("exists already");
    expect((await described(deleteFile, { path: "g" })).risks).toContain("not all of what would change can be shown");
  });

  test("bytes that are no text, and files that are too large, are named with their sizes alone", async () => {
    put("bin", Buffer.from([0, 1, 2]));
    put("odd", Buffer.from([0xff, 0xfe]));
    expect(await described(writeFile, { path: "bin", content: "text" })).toMatchObject({
      risks: ["not all of what would change can be shown"],
      details: { changes: [{ path: "bin", kind: "modify", bytesBefore: 3, bytesAfter: 4, linesOmitted: 0 }] },
    });
    expect((await changesOf(writeFile, { path: "odd", content: "text" }))[0]).not.toHaveProperty("diff");
    put("large", Buffer.alloc(PROMPT_FILE_BYTES_MAX, "a\n"));
    expect((await changesOf(writeFile, { path: "large", content: "b\n" }))[0]).toHaveProperty("diff");
    put("large", Buffer.alloc(PROMPT_FILE_BYTES_MAX + 1, "a\n"));
    expect((await described(writeFile, { path: "large", content: "b\n" })).details).toMatchObject({
      changes: [],
      unseen: expect.any(String),
    });
  });

  test("a secret in the file or in the call is hidden in diff and arguments, also where a hunk cuts it", async () => {
    put("f", `key = "${KEY}"\nother\n`);
    const shown = await described(writeFile, { path: "f", content: `key = "${KEY}"\nchanged ${KEY}\n` });
    expect(JSON.stringify(shown)).not.toContain(KEY);
    expect(shown.details.changes[0]?.diff).toContain("[REDACTED:");
    expect(shown.details.arguments["content"]).toContain("[REDACTED:");
    expect(readFileSync(join(place.root, "f"), "utf8")).toContain(KEY);
  });

  test("that something is hidden is a risk: what looks like a secret may be anything", async () => {
    const hidden = expect.stringContaining("some of it is hidden");
    expect(
      (await described(writeFile, { path: "new", content: 'password="cm0gLXJmIC8gfCBzaA0x"\n' })).risks,
    ).toContainEqual(hidden);
    expect((await described(writeFile, { path: "new", content: "echo hello\n" })).risks).not.toContainEqual(hidden);
  });

  test("a link that leads elsewhere is shown where it leads, and not when that is a secret zone", async () => {
    mkdirSync(join(place.root, "secrets"));
    put("secrets/key", "top secret\n");
    symlinkSync("secrets/key", join(place.root, "link"));
    symlinkSync("AGENTS.md", join(place.root, "fine"));
    put("AGENTS.md", "plain\n");
    const through = await described(writeFile, { path: "link", content: "x" });
    expect(JSON.stringify(through)).not.toContain("top secret");
    expect(through.details).toMatchObject({ changes: [], unseen: expect.stringContaining("secret zone") });
    expect(await changesOf(writeFile, { path: "fine", content: "x" })).toMatchObject([
      { diff: expect.stringContaining("-plain") },
    ]);
  });

  test("a preview reads nothing that the analysis did not name", async () => {
    put("other", "not named\n");
    const nosy = {
      ...deleteFile,
      preview: async (_: unknown, context: { read: (path: string) => Promise<Uint8Array> }) => [
        { path: "f", before: await context.read("other") },
      ],
    };
    put("f", "a");
    const shown = await described(nosy, { path: "f" });
    expect(JSON.stringify(shown)).not.toContain("not named");
    expect(shown.details.unseen).toContain("its analysis did not name");
  });
});

describe("a request has its bounds", () => {
  test("and says what is left out, whatever is written", async () => {
    const long = Array.from({ length: 4000 }, (_, index) => `line ${index} ${"\u0001".repeat(200)}\n`).join("");
    put("f", `${long.replaceAll("line", "old")}`);
    const shown = await described(writeFile, { path: "f", content: long });
    expect(Buffer.byteLength(canonicalJson(shown as unknown as JsonObject))).toBeLessThan(APPROVAL_DOCUMENT_BYTES_MAX);
    const [change] = shown.details.changes;
    const signs = (change?.diff ?? "")
      .split("\n")
      .filter((line) => /^[-+@]/.test(line) && !/^(---|\+\+\+)/.test(line)).length;
    expect(signs).toBeGreaterThan(50);
    expect(signs + (change?.linesOmitted ?? 0)).toBe(8001);
    expect(shown.risks).toEqual(["not all of what would change can be shown", "not all of the arguments can be shown"]);
  });

  test("for arguments that are deep, wide, long, or alike but for halves of pairs", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`) as JsonObject;
    const args = { deep, wide: Array(5000).fill("x"), long: "y".repeat(1_000_000), "k\ud800": 1, "k\ud801": "last" };
    const tool = { ...deleteFile, parameters: { parse: () => args }, analyse: () => [] };
    const shown = await described({ ...tool, preview: undefined }, args as unknown as JsonObject);
    const text = canonicalJson(shown as unknown as JsonObject);
    expect(text.length).toBeLessThan(64 * 1024);
    expect(text).toContain("nested deeper than is shown");
    expect(text).toContain("more characters)");
    expect(Object.keys(shown.details.arguments)).toEqual(["deep", "wide", "long", "k\ufffd", "k\ufffd (4)"]);
    expect(shown.details.arguments["k\ufffd (4)"]).toBe("last");
    expect(shown.risks).toContain("not all of the arguments can be shown");
  });

  test("for accesses, of which none is shown in part", async () => {
    const accesses = Array.from({ length: 100 }, (_, index) => ({
      resource: { kind: "host", host: `h${index}.example`, port: 443 },
      effect: "network",
    }));
    const shown = await described({ ...deleteFile, preview: undefined, analyse: () => accesses }, { path: "f" });
    expect(shown.details.accesses).toHaveLength(65);
    expect(shown.details.accesses.at(-1)).toEqual({ kind: "more", count: 36 });
    expect(shown.summary).toBe("`delete_file`: contact 100 hosts");
    expect(shown.risks).toContain("not all that it touches can be shown");
  });
});
