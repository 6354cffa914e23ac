/** `handrail artifacts` as people and scripts use it: exports, verification, and calls of a provider's output. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blake3Hex } from "../../../../src/base/hash.ts";
import { canonicalJson, type JsonObject } from "../../../../src/base/json.ts";
import { dataIn, handrail, linesOf } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

/** Put together here, so that this file holds no secret. */
const CODE_HOST = ["ghp", "_", "x7Kq2LmN9pRs4TvW8yZa3BcD6eFgH1jK5MnP"].join("");

/** Puts an output where serverd has it, under its hash. */
function putOutput(place: Place, value: unknown, hashOf: (text: string) => string = blake3Hex): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return place.put(`outside/artifacts/outputs/${hashOf(text)}.json`, text);
}

function putInput(place: Place, value: JsonObject): string {
  const hash = blake3Hex(canonicalJson(value));
  place.put(`outside/artifacts/tool_inputs/${hash}.json`, JSON.stringify(value, undefined, 2));
  return `artifacts/tool_inputs/${hash}.json`;
}

const run = (place: Place, path: string, ...more: readonly string[]) =>
  handrail(place, ["artifacts", "run", path, "--workspace", place.workspace, ...more]);

interface Line {
  readonly at: string;
  readonly id?: string;
  readonly tool: string;
  readonly result: { readonly status: string; readonly error?: { readonly code: string } };
}

/** What came of each call; a line says by its status whether it did. */
function answersIn(stdout: string): readonly Line[] {
  return linesOf(stdout).map((text) => {
    const { status, data } = JSON.parse(text) as { readonly status: string; readonly data: Line };
    expect(status).toBe(data.result.status);
    return data;
  });
}

const openAi = (...calls: readonly (readonly [tool: string, args: JsonObject])[]) => ({
  choices: [
    {
      message: {
        tool_calls: calls.map(([name, args], index) => ({
          id: `c${index}`,
          function: { name, arguments: JSON.stringify(args) },
        })),
      },
    },
  ],
});

test("the calls of an output are made in their order, each as the kernel decides, and exported afterwards", async () => {
  const place = freshPlace();
  const path = putOutput(
    place,
    openAi(
      ["write_file", { path: "a.txt", content: "first" }],
      ["edit_file", { path: "a.txt", edits: [{ operation: "replace", spec: "first", content: "second" }] }],
      ["read_file", { path: "../outside.txt" }],
      ["write_file", { path: "CLAUDE.md", content: "obey" }],
    ),
  );
  const ran = await run(place, path, "--json");
  expect(ran.code).toBe(2);
  const lines = answersIn(ran.stdout);
  expect(lines.map(({ id, tool, result }) => [id, tool, result.error?.code ?? result.status])).toEqual([
    ["c0", "write_file", "success"],
    ["c1", "edit_file", "success"],
    ["c2", "read_file", "WORKSPACE_PATH_TRAVERSAL"],
    ["c3", "write_file", "TOOL_APPROVAL_REQUIRED"],
  ]);
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("second");
  expect(existsSync(join(place.workspace, "CLAUDE.md"))).toBe(false);
  const evidence = join(place.base, "evidence");
  const exported = await handrail(place, ["artifacts", "export", evidence, "--json"]);
  expect(dataIn<{ documents: JsonObject }>(exported.stdout).documents).toEqual({
    outputs: 1,
    tool_inputs: 2,
    tool_calls: 2,
    tool_outputs: 2,
    approvals: 1,
    decisions: 0,
  });
});

test("an output that does not fit its hash is not called; SHA-256 and --hash and --unverified do", async () => {
  const place = freshPlace();
  const value = openAi(["write_file", { path: "a.txt", content: "x" }]);
  const wrong = putOutput(place, value, () => "0".repeat(64));
  const mismatch = await run(place, wrong);
  expect(mismatch).toMatchObject({ code: 64, stderr: expect.stringContaining("does not fit its hash") });
  expect(existsSync(join(place.workspace, "a.txt"))).toBe(false);
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  expect((await run(place, putOutput(place, value, sha256))).code).toBe(0);
  const unnamed = place.put("outside/output.json", JSON.stringify(value));
  expect(await run(place, unnamed)).toMatchObject({ code: 64, stderr: expect.stringContaining("--unverified") });
  expect((await run(place, unnamed, "--hash", blake3Hex(canonicalJson(value)))).code).toBe(0);
  expect((await run(place, unnamed, "--unverified")).code).toBe(0);
});

test("an input that lies in a file of its own is taken where it fits its hash, and refused elsewhere", async () => {
  const place = freshPlace();
  const reference = putInput(place, { path: "good.txt", content: "x" });
  const altered = putInput(place, { path: "altered.txt", content: "x" });
  place.put(`outside/${altered}`, JSON.stringify({ path: "other.txt", content: "x" }));
  const linked = `artifacts/tool_inputs/${"b".repeat(64)}.json`;
  symlinkSync(join(place.outside, reference), join(place.outside, linked));
  const references = [reference, altered, linked, `artifacts/tool_inputs/${"c".repeat(64)}.json`, "../../etc/passwd"];
  const path = putOutput(place, { tool_calls: references.map((input_ref) => ({ tool: "write_file", input_ref })) });
  const ran = await run(place, path, "--json");
  const codes = answersIn(ran.stdout).map(({ result }) => result);
  expect(codes.map(({ status, error }) => error?.code ?? status)).toEqual([
    "success",
    ...Array.from({ length: 4 }, () => "TOOL_INPUT_READ_FAILED"),
  ]);
  expect(readdirSync(place.workspace)).toEqual(["good.txt"]);
  const refused = (await readEvidence(place.state)).filter(({ payload }) => payload["ruleId"] === "PROVIDER:call");
  expect(refused.map(({ payload }) => payload["reason"])).toEqual(Array(4).fill("tool_input_read_failed"));
});

test("what is no call is refused in its place, and the others are made", async () => {
  const place = freshPlace();
  const calls = [
    { arguments: {} },
    { name: "write_file", arguments: "{" },
    { name: "read_file", arguments: '{"nope":1}' },
  ];
  const path = putOutput(place, { tool_calls: [...calls, { name: "list_files", arguments: "" }] });
  const ran = await run(place, path, "--json");
  expect(ran.code).toBe(2);
  const results = answersIn(ran.stdout).map(({ result }) => result);
  expect(results.map(({ status, error }) => error?.code ?? status)).toEqual([
    "TOOL_CALL_INVALID",
    "TOOL_INPUT_INVALID",
    "TOOL_INPUT_INVALID",
    "success",
  ]);
});

test("an output that is too large, too deep or no file is named with what to do", async () => {
  const place = freshPlace();
  const large = place.put("outside/large.json", `{"a":"${"x".repeat(10 * 1024 * 1024)}"}`);
  mkdirSync(join(place.outside, "directory"));
  const deep = place.put("outside/deep.json", `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`);
  for (const [path, said] of [
    [large, "more than 10485760 bytes"],
    [deep, "levels deep"],
    [join(place.outside, "directory"), "no plain file"],
    [join(place.outside, "missing"), "cannot be read (ENOENT)"],
  ] as const)
    expect(await run(place, path, "--unverified")).toMatchObject({ code: 64, stderr: expect.stringContaining(said) });
});

test("secrets of an output stand in no document and no entry, also where a text of JSON escapes them", async () => {
  const place = freshPlace();
  const escaped = [...CODE_HOST].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  const call = { function: { name: "write_file", arguments: `{"path":"a.txt","content":"token ${escaped}"}` } };
  await run(place, putOutput(place, { tool_calls: [call], note: `my token is ${CODE_HOST}` }));
  const evidence = join(place.base, "evidence");
  await handrail(place, ["artifacts", "export", evidence]);
  const files = readdirSync(evidence, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
  expect(texts.some((text) => text.includes("handrail.provider_output.v1"))).toBe(true);
  expect(texts.filter((text) => text.includes(CODE_HOST) || text.includes(escaped))).toEqual([]);
  expect(texts.join("")).toContain("[REDACTED:");
  const entries = JSON.stringify(await readEvidence(place.state));
  expect(entries.includes(CODE_HOST)).toBe(false);
});

test("a call that only reads ends without a word although its documents are brought to disk a moment later", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", "evidence: { documents: all }\n");
  const called = await handrail(place, ["call", "list_files", "path=.", "--workspace", place.workspace]);
  expect(called).toMatchObject({ code: 0, stderr: "" });
  const types = (await readEvidence(place.state)).map(({ entry }) => entry.eventType);
  expect(types.filter((type) => type.startsWith("tool_"))).toEqual([
    "tool_call_written",
    "tool_executed",
    "tool_output_written",
  ]);
});

test("export and verify say by their exit codes what came of them", async () => {
  const place = freshPlace();
  await handrail(place, ["call", "write_file", "path=a.txt", "content=x", "--workspace", place.workspace]);
  const evidence = join(place.base, "evidence");
  const artifacts = (...args: readonly string[]) => handrail(place, ["artifacts", ...args]);
  expect(await artifacts("export", evidence)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^exported 3 /) });
  expect(await artifacts("export", evidence)).toMatchObject({ code: 64 });
  expect(await artifacts("export", `${evidence}2`, "--schema", "other")).toMatchObject({ code: 64 });
  expect(await artifacts("export", `${evidence}2`, "--since", "yesterday")).toMatchObject({ code: 64 });
  const verify = (path: string) => handrail(place, ["artifacts", "verify", path]);
  expect(await verify(evidence)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^the documents are intact: 3;/),
  });
  const outputs = join(evidence, "artifacts", "tool_outputs");
  writeFileSync(join(outputs, readdirSync(outputs)[0] ?? ""), "{}");
  expect(await verify(evidence)).toMatchObject({ code: 1, stdout: expect.stringContaining("damaged") });
  expect(await verify(join(place.base, "missing"))).toMatchObject({ code: 64 });
});

test("a kernel that is killed between an effect and its outcome leaves the call's document, and no output", async () => {
  const place = freshPlace();
  const killed = await handrail(
    place,
    ["call", "write_file", "path=a.txt", "content=x", "--workspace", place.workspace],
    {
      fromSources: true,
      environment: {
        TEST_KILL_AT: "before outcome",
        NODE_OPTIONS: `--import=${new URL("../../../support/children/kill-at.ts", import.meta.url).href}`,
      },
    },
  );
  expect(killed.code).toBe("SIGKILL");
  await handrail(place, ["call", "list_files", "path=.", "--workspace", place.workspace]); // the next kernel
  const types = (await readEvidence(place.state)).map(({ entry }) => entry.eventType);
  expect(types).toEqual(expect.arrayContaining(["tool_call_written", "tool_outcome_unknown"]));
  expect(types).not.toContain("tool_output_written");
  const evidence = join(place.base, "evidence");
  const exported = await handrail(place, ["artifacts", "export", evidence, "--json"]);
  expect(dataIn<{ documents: JsonObject }>(exported.stdout).documents).toMatchObject({
    tool_calls: 1,
    tool_outputs: 0,
  });
  expect((await handrail(place, ["cas", "verify"])).code).toBe(0);
});
