/** The dialect of the wire: which canonical call each variant becomes. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { utf8 } from "../../src/base/bytes.ts";
import { KernelError } from "../../src/base/errors.ts";
import { ToolRequestSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { toToolCall } from "../../src/wire/call.ts";

type ToolInit = NonNullable<NonNullable<Parameters<typeof create<typeof ToolRequestSchema>>[1]>["tool"]>;

function callOf(tool: ToolInit) {
  return toToolCall(create(ToolRequestSchema, { requestId: "r", sessionToken: "s", dedupeKey: "d", tool }));
}

const ENVELOPE = { requestId: "r", sessionToken: "s", dedupeKey: "d" };
const HASH = new Uint8Array(32).fill(1);

describe("each variant becomes one canonical call", () => {
  test("FileRead is `read_file`, and takes raw bytes", () => {
    expect(callOf({ case: "fileRead", value: { path: "a", offset: 5n, limit: 10n } })).toEqual({
      ...ENVELOPE,
      tool: "read_file",
      variant: "file_read",
      reply: "bytes",
      arguments: { path: "a", offset: 5, limit: 10 },
    });
  });

  test("CTR-0004, CTR-0005: `limit` 0 reads to the end, `offset` 0 starts at the beginning", () => {
    expect(callOf({ case: "fileRead", value: { path: "a" } }).arguments).toEqual({ path: "a", offset: 0 });
  });

  test("an offset beyond exact numbers stays beyond every file", () => {
    expect(callOf({ case: "fileRead", value: { path: "a", offset: 2n ** 64n - 1n } }).arguments).toEqual({
      path: "a",
      offset: Number.MAX_SAFE_INTEGER,
    });
  });

  test("CTR-0007, CTR-0008: FileWrite is `write_file` with its bytes as they are", () => {
    const content = Uint8Array.of(0xff, 0);
    expect(callOf({ case: "fileWrite", value: { path: "a", content, createOnly: true } })).toEqual({
      ...ENVELOPE,
      tool: "write_file",
      variant: "file_write",
      reply: "result",
      arguments: { path: "a", content, create_only: true, append: false },
    });
  });

  test("CTR-0009, CTR-0010: FileEdit is `edit_file` that must match exactly once", () => {
    expect(callOf({ case: "fileEdit", value: { path: "a", oldContent: "b", newContent: "c" } })).toEqual({
      ...ENVELOPE,
      tool: "edit_file",
      variant: "file_edit",
      reply: "result",
      arguments: {
        path: "a",
        edits: [{ operation: "replace", match_mode: "exact", spec: "b", content: "c", count: 1 }],
      },
    });
  });

  test("CTR-0011, CTR-0014: ShellExec is `shell`, and leaves defaults out", () => {
    expect(
      callOf({
        case: "shellExec",
        value: { command: "ls", cwd: "src", timeoutMs: 5n, networkAccess: true, env: ["A=1"] },
      }),
    ).toEqual({
      ...ENVELOPE,
      tool: "shell",
      variant: "shell_exec",
      reply: "result",
      arguments: { command: "ls", cwd: "src", timeout_ms: 5, network_access: true, env: ["A=1"] },
    });
    expect(callOf({ case: "shellExec", value: { command: "ls" } }).arguments).toEqual({
      command: "ls",
      network_access: false,
      env: [],
    });
  });

  test("GitOperation is `git` with its operation", () => {
    expect(callOf({ case: "gitOp", value: { operation: "PUSH", args: ["origin"], cwd: "sub" } })).toEqual({
      ...ENVELOPE,
      tool: "git",
      variant: "git_op",
      reply: "result",
      arguments: { operation: "PUSH", args: ["origin"], cwd: "sub" },
    });
    expect(callOf({ case: "gitOp", value: { operation: "DIFF" } }).arguments).toEqual({ operation: "DIFF", args: [] });
  });

  test("CTR-0017, CTR-0018: InferenceCall is `inference`, prompts by hash, temperature in hundredths", () => {
    const value = {
      provider: "p",
      model: "m",
      promptHash: HASH,
      maxTokens: 9n,
      temperatureScaled: 70,
      systemPromptHash: HASH,
    };
    const hash = Buffer.from(HASH).toString("hex");
    const values = { provider: "p", model: "m", prompt_hash: hash, max_tokens: 9, temperature_scaled: 70 };
    expect(callOf({ case: "inference", value })).toEqual({
      ...ENVELOPE,
      tool: "inference",
      variant: "inference",
      reply: "result",
      arguments: { ...values, system_prompt_hash: hash },
    });
    expect(callOf({ case: "inference", value: { ...value, systemPromptHash: new Uint8Array(0) } }).arguments).toEqual(
      values,
    );
  });

  test("CTR-0020: ArtifactPublish is `artifact_publish`, content by hash", () => {
    expect(
      callOf({
        case: "artifactPublish",
        value: { artifactId: "a", contentHash: HASH, category: "c", metadata: ["k=v"] },
      }),
    ).toEqual({
      ...ENVELOPE,
      tool: "artifact_publish",
      variant: "artifact_publish",
      reply: "result",
      arguments: {
        artifact_id: "a",
        content_hash: Buffer.from(HASH).toString("hex"),
        category: "c",
        metadata: ["k=v"],
      },
    });
  });

  test("`call` is the tool it names, with its JSON as arguments", () => {
    expect(callOf({ case: "call", value: { name: "list_files", argumentsJson: utf8('{"path":"src"}') } })).toEqual({
      ...ENVELOPE,
      tool: "list_files",
      variant: "call",
      reply: "result",
      arguments: { path: "src" },
    });
  });
});

test.each<[string, ToolInit]>([
  ["no tool", { case: undefined }],
  ["arguments that are no object", { case: "call", value: { name: "n", argumentsJson: utf8("[]") } }],
  ["arguments that name a member twice", { case: "call", value: { name: "n", argumentsJson: utf8('{"a":1,"a":2}') } }],
])("a request that was not validated is a bug: %s", (_, tool) => {
  expect(() => callOf(tool)).toThrow(KernelError);
});
