/** The invariants of the protocol: each limit at n and one beyond, and every violation in one answer. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { utf8 } from "../../src/base/bytes.ts";
import {
  ARGUMENT_VALUES_MAX,
  MAX_ARG_LEN,
  MAX_COMMAND_LEN,
  MAX_EDIT_SIZE,
  MAX_ID_LEN,
  MAX_PATH_LEN,
  MAX_READ_LIMIT,
  MAX_REPEATED_ITEMS,
  MAX_TIMEOUT_MS,
  MAX_WRITE_SIZE,
  NESTING_DEPTH_MAX,
} from "../../src/base/limits.ts";
import { ToolRequestSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { GIT_OPERATIONS, MAX_TOKENS } from "../../src/model/outcome/constraints.ts";
import { invariantOf, validateEnvelope, validateRequest } from "../../src/validate/validate.ts";

type RequestInit = NonNullable<Parameters<typeof create<typeof ToolRequestSchema>>[1]>;
type ToolInit = NonNullable<RequestInit["tool"]>;

const HASH = new Uint8Array(32);

/** What is broken, as `INV-nnnn field rule`. */
function broken(init: RequestInit): string[] {
  return validateRequest(create(ToolRequestSchema, init)).map(
    (found) => `${invariantOf(found)} ${found.field} ${found.rule}`,
  );
}

function brokenTool(tool: ToolInit): string[] {
  return broken({ requestId: "r", sessionToken: "s", tool });
}

const read = (value: object): ToolInit => ({ case: "fileRead", value: { path: "a", ...value } });
const write = (value: object): ToolInit => ({ case: "fileWrite", value: { path: "a", ...value } });
const edit = (value: object): ToolInit => ({ case: "fileEdit", value: { path: "a", oldContent: "b", ...value } });
const shell = (value: object): ToolInit => ({ case: "shellExec", value: { command: "ls", ...value } });
const git = (value: object): ToolInit => ({ case: "gitOp", value: { operation: "STATUS", ...value } });
const infer = (value: object): ToolInit => ({
  case: "inference",
  value: { provider: "p", model: "m", promptHash: HASH, ...value },
});
const publish = (value: object): ToolInit => ({
  case: "artifactPublish",
  value: { artifactId: "a", contentHash: HASH, category: "c", ...value },
});
const call = (value: object): ToolInit => ({ case: "call", value: { name: "n", argumentsJson: utf8("{}"), ...value } });

describe("the envelope", () => {
  const envelope = (init: RequestInit) => broken({ requestId: "r", sessionToken: "s", tool: read({}), ...init });
  test.each<[string, RequestInit, string[]]>([
    ["INV-0001: a request id of the longest length", { requestId: "x".repeat(MAX_ID_LEN) }, []],
    [
      "INV-0001: a request id one longer",
      { requestId: "x".repeat(MAX_ID_LEN + 1) },
      ["INV-0001 request_id max_length"],
    ],
    ["INV-0001: no request id", { requestId: "" }, ["INV-0001 request_id required"]],
    ["INV-0001: characters, not code units", { requestId: "😀".repeat(MAX_ID_LEN) }, []],
    ["INV-0001: one character more", { requestId: "😀".repeat(MAX_ID_LEN + 1) }, ["INV-0001 request_id max_length"]],
    ["INV-0002: a token of the longest length", { sessionToken: "x".repeat(MAX_ID_LEN) }, []],
    [
      "INV-0002: a token one longer",
      { sessionToken: "x".repeat(MAX_ID_LEN + 1) },
      ["INV-0002 session_token max_length"],
    ],
    ["INV-0002: no token", { sessionToken: "" }, ["INV-0002 session_token required"]],
    ["INV-0003: no dedupe key", { dedupeKey: "" }, []],
    ["INV-0003: a dedupe key of the longest length", { dedupeKey: "x".repeat(MAX_ID_LEN) }, []],
    [
      "INV-0003: a dedupe key one longer",
      { dedupeKey: "x".repeat(MAX_ID_LEN + 1) },
      ["INV-0003 dedupe_key max_length"],
    ],
    ["INV-0004: no tool", { tool: { case: undefined } }, ["INV-0004 tool required"]],
    ["half of a surrogate pair", { requestId: "\ud83d" }, ["INV-0001 request_id format"]],
  ])("%s", (_, init, expected) => {
    expect(envelope(init)).toEqual(expected);
  });

  test("of a call that is no protobuf keeps the same rules", () => {
    const check = (requestId: string, sessionToken: string, dedupeKey: string, tool: string) =>
      validateEnvelope({ requestId, sessionToken, dedupeKey, tool }).map(
        (found) => `${invariantOf(found)} ${found.field} ${found.rule}`,
      );
    const long = "x".repeat(MAX_ID_LEN + 1);
    expect(check("r", "s", "", "read_file")).toEqual([]);
    expect(check("", "", "", "")).toEqual([
      "INV-0001 request_id required",
      "INV-0002 session_token required",
      "INV-0004 tool required",
    ]);
    expect(check(long, long, long, long)).toEqual([
      "INV-0001 request_id max_length",
      "INV-0002 session_token max_length",
      "INV-0003 dedupe_key max_length",
      "WIRE:tool tool max_length",
    ]);
    expect(check("\ud800", "s", "", "\ud800")).toEqual(["INV-0001 request_id format", "WIRE:tool tool format"]);
  });
});

describe("paths", () => {
  const kinds = [
    ["file_read.path", read, "path", "INV-0005", "INV-0006", "INV-0007"],
    ["file_write.path", write, "path", "INV-0009", "INV-0010", "INV-0010"],
    ["file_edit.path", edit, "path", "INV-0013", "INV-0013", "INV-0013"],
    ["shell_exec.cwd", shell, "cwd", "INV-0017", "INV-0017", "INV-0017"],
    ["git_op.cwd", git, "cwd", "INV-0024", "INV-0024", "INV-0024"],
  ] as const;

  describe.each(kinds)("%s", (field, tool, property, main, nullByte, traversal) => {
    const path = (value: string) => brokenTool(tool({ [property]: value }));

    test(`${main}: length counts characters, at n and n+1`, () => {
      expect(path("é".repeat(MAX_PATH_LEN))).toEqual([]);
      expect(path("😀".repeat(MAX_PATH_LEN))).toEqual([]);
      expect(path("é".repeat(MAX_PATH_LEN + 1))).toEqual([`${main} ${field} max_length`]);
      expect(path("😀".repeat(MAX_PATH_LEN + 1))).toEqual([`${main} ${field} max_length`]);
    });

    test(`${main}: an empty path`, () => {
      expect(path("")).toEqual(property === "path" ? [`${main} ${field} required`] : []);
    });

    test(`${nullByte}: null bytes`, () => {
      expect(path("a\0b")).toEqual([`${nullByte} ${field} no_null_bytes`]);
    });

    test.each(["..", "../a", "a/..", "a/../b", "a\\..\\b", "..\\a", "/..", "a/..\\b"])(
      `${traversal}: %j is a traversal`,
      (value) => {
        expect(path(value)).toEqual([`${traversal} ${field} no_path_traversal`]);
      },
    );

    test.each(["a..b", "..a", "a..", "...", "a/.../b", "./a", "a/./b", "/workspace/src/main.rs"])(
      `${traversal}: %j is none`,
      (value) => {
        expect(path(value)).toEqual([]);
      },
    );

    test("the first problem alone is reported: length, null byte, traversal, format", () => {
      const long = "x".repeat(MAX_PATH_LEN);
      expect(path(`${long}\0/../\ud800`)).toEqual([`${main} ${field} max_length`]);
      expect(path("\0/../\ud800")).toEqual([`${nullByte} ${field} no_null_bytes`]);
      expect(path("../\ud800")).toEqual([`${traversal} ${field} no_path_traversal`]);
      expect(path("\ud800")).toEqual([`${main} ${field} format`]);
    });
  });
});

describe("numbers", () => {
  test.each<[string, (value: object) => ToolInit, string, number, string]>([
    ["INV-0008", read, "limit", MAX_READ_LIMIT, "file_read.limit"],
    ["INV-0018", shell, "timeoutMs", MAX_TIMEOUT_MS, "shell_exec.timeout_ms"],
    ["INV-0028", infer, "maxTokens", MAX_TOKENS, "inference.max_tokens"],
  ])("%s: at n and n+1", (invariant, tool, property, max, field) => {
    expect(brokenTool(tool({ [property]: 0n }))).toEqual([]);
    expect(brokenTool(tool({ [property]: BigInt(max) }))).toEqual([]);
    expect(brokenTool(tool({ [property]: BigInt(max) + 1n }))).toEqual([`${invariant} ${field} max_value`]);
    expect(brokenTool(tool({ [property]: 2n ** 64n - 1n }))).toEqual([`${invariant} ${field} max_value`]);
  });

  test("CTR-0005, CTR-0017: an offset and a temperature have no limit of their own", () => {
    expect(brokenTool(read({ offset: 2n ** 64n - 1n }))).toEqual([]);
    expect(brokenTool(infer({ temperatureScaled: 0xffff_ffff }))).toEqual([]);
  });
});

describe("sizes count bytes", () => {
  test("INV-0011: content at n and n+1", () => {
    expect(brokenTool(write({ content: new Uint8Array(MAX_WRITE_SIZE) }))).toEqual([]);
    expect(brokenTool(write({ content: new Uint8Array(MAX_WRITE_SIZE + 1) }))).toEqual([
      "INV-0011 file_write.content max_size",
    ]);
  });

  test.each([
    ["INV-0014", "file_edit.old_content", "max_size", edit, "oldContent", MAX_EDIT_SIZE],
    ["INV-0015", "file_edit.new_content", "max_size", edit, "newContent", MAX_EDIT_SIZE],
    ["INV-0016", "shell_exec.command", "max_length", shell, "command", MAX_COMMAND_LEN],
  ] as const)("%s: %s at n and n+1", (invariant, field, rule, tool, property, max) => {
    expect(brokenTool(tool({ [property]: "x".repeat(max) }))).toEqual([]);
    expect(brokenTool(tool({ [property]: "é".repeat(max / 2) }))).toEqual([]);
    expect(brokenTool(tool({ [property]: "x".repeat(max + 1) }))).toEqual([`${invariant} ${field} ${rule}`]);
    expect(brokenTool(tool({ [property]: `${"é".repeat(max / 2)}x` }))).toEqual([`${invariant} ${field} ${rule}`]);
  });

  test("INV-0014, INV-0016: empty text is `required` alone; INV-0015: new content may be empty", () => {
    expect(brokenTool(edit({ oldContent: "", newContent: "" }))).toEqual(["INV-0014 file_edit.old_content required"]);
    expect(brokenTool(shell({ command: "" }))).toEqual(["INV-0016 shell_exec.command required"]);
  });
});

describe("lists", () => {
  test.each([
    ["shell_exec.env", "INV-0019", "INV-0020", shell, "env", true],
    ["git_op.args", "INV-0022", "INV-0023", git, "args", false],
    ["artifact_publish.metadata", "INV-0033", "INV-0034", publish, "metadata", true],
  ] as const)("%s: %s at n and n+1 entries, %s at n and n+1 bytes", (field, items, entry, tool, property, pairs) => {
    const check = (values: readonly string[]) => brokenTool(tool({ [property]: values }));
    expect(check([])).toEqual([]);
    expect(check(new Array<string>(MAX_REPEATED_ITEMS).fill("a=b"))).toEqual([]);
    expect(check(new Array<string>(MAX_REPEATED_ITEMS + 1).fill("a=b"))).toEqual([`${items} ${field} max_items`]);
    expect(check([`=${"x".repeat(MAX_ARG_LEN - 1)}`])).toEqual([]);
    expect(check(["a=b", `=${"x".repeat(MAX_ARG_LEN)}`])).toEqual([`${entry} ${field}[1] max_length`]);
    expect(check([`=${"é".repeat(MAX_ARG_LEN / 2)}`])).toEqual([`${entry} ${field}[0] max_length`]);
    expect(check(["a=\ud800"])).toEqual([`${entry} ${field}[0] format`]);
    const unequal = pairs
      ? [`${entry} ${field}[0] format`, `${entry} ${field}[2] format`, `${entry} ${field}[3] format`]
      : [];
    expect(check(["A", "A=1", "A=1=2", "", "="])).toEqual(unequal);
  });

  test("CTR-0033: a broken entry has each of its violations, and entries beyond the limit are counted only", () => {
    const long = "x".repeat(MAX_ARG_LEN + 1);
    expect(brokenTool(shell({ env: [long] }))).toEqual([
      "INV-0020 shell_exec.env[0] max_length",
      "INV-0020 shell_exec.env[0] format",
    ]);
    const many = brokenTool(shell({ env: new Array<string>(MAX_REPEATED_ITEMS + 500).fill("A") }));
    expect(many).toHaveLength(1 + MAX_REPEATED_ITEMS);
    expect(many[0]).toBe("INV-0019 shell_exec.env max_items");
  });
});

describe("words and hashes", () => {
  test("INV-0021: each of the eighteen operations is known", () => {
    expect(GIT_OPERATIONS).toEqual(
      "CLONE FETCH PULL DIFF COMMIT PUSH STATUS LOG BRANCH CHECKOUT MERGE REBASE ADD RESET STASH TAG REMOTE SHOW".split(
        " ",
      ),
    );
    for (const operation of GIT_OPERATIONS) expect(brokenTool(git({ operation }))).toEqual([]);
  });

  test.each(["status", "CHERRY-PICK", "STATUS ", "x".repeat(100_000)])(
    "INV-0021: another operation is not known",
    (operation) => {
      expect(brokenTool(git({ operation }))).toEqual(["INV-0021 git_op.operation known_operation"]);
    },
  );

  test("INV-0021: no operation is `required` alone", () => {
    expect(brokenTool(git({ operation: "" }))).toEqual(["INV-0021 git_op.operation required"]);
  });

  test.each([
    ["INV-0027", "inference.prompt_hash", infer, "promptHash", true],
    ["INV-0029", "inference.system_prompt_hash", infer, "systemPromptHash", false],
    ["INV-0031", "artifact_publish.content_hash", publish, "contentHash", true],
  ] as const)("%s: %s has 32 bytes", (invariant, field, tool, property, required) => {
    const check = (length: number) => brokenTool(tool({ [property]: new Uint8Array(length) }));
    const refused = [`${invariant} ${field} hash_size`];
    expect([check(31), check(32), check(33)]).toEqual([refused, [], refused]);
    expect(check(0)).toEqual(required ? refused : []);
  });

  test.each([
    ["INV-0025", "inference.provider", infer, "provider"],
    ["INV-0026", "inference.model", infer, "model"],
    ["INV-0030", "artifact_publish.artifact_id", publish, "artifactId"],
    ["INV-0032", "artifact_publish.category", publish, "category"],
    ["WIRE:call.name", "call.name", call, "name"],
  ] as const)("%s: %s at n and n+1 characters", (invariant, field, tool, property) => {
    expect(brokenTool(tool({ [property]: "é".repeat(MAX_ID_LEN) }))).toEqual([]);
    expect(brokenTool(tool({ [property]: "é".repeat(MAX_ID_LEN + 1) }))).toEqual([`${invariant} ${field} max_length`]);
    expect(brokenTool(tool({ [property]: "" }))).toEqual([`${invariant} ${field} required`]);
  });
});

test("INV-0012: `create_only` and `append` exclude each other", () => {
  expect(brokenTool(write({ createOnly: true }))).toEqual([]);
  expect(brokenTool(write({ append: true }))).toEqual([]);
  expect(brokenTool(write({ createOnly: true, append: true }))).toEqual(["INV-0012 file_write mutually_exclusive"]);
});

describe("arguments of a generic call", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  test.each([
    ["an object", '{"path":"a","deep":{"list":[1,"two",null]}}'],
    ["no arguments", "{}"],
    ["the deepest nesting", nested(NESTING_DEPTH_MAX)],
  ])("%s is taken", (_, json) => {
    expect(brokenTool(call({ argumentsJson: utf8(json) }))).toEqual([]);
  });

  test.each([
    ["nothing", ""],
    ["a list", "[]"],
    ["text", '"a"'],
    ["null", "null"],
    ["broken JSON", '{"a":'],
    ["two values", "{}{}"],
    ["nesting one too deep", nested(NESTING_DEPTH_MAX + 1)],
    ["a member named twice", '{"a":1,"a":2}'],
    ["a prototype", '{"__proto__":{"a":1}}'],
    ["half of a surrogate pair", '{"a":"\\ud800"}'],
  ])("%s is refused", (_, json) => {
    expect(brokenTool(call({ argumentsJson: utf8(json) }))).toEqual([
      "WIRE:call.arguments_json call.arguments_json format",
    ]);
  });

  test("bytes that are no UTF-8 are refused", () => {
    const argumentsJson = Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d);
    expect(brokenTool(call({ argumentsJson }))).toEqual(["WIRE:call.arguments_json call.arguments_json format"]);
  });

  test("more bytes than the limit are `max_size` alone, and are not parsed", () => {
    const argumentsJson = new Uint8Array(MAX_WRITE_SIZE + 1);
    expect(brokenTool(call({ argumentsJson }))).toEqual(["WIRE:call.arguments_json call.arguments_json max_size"]);
  });

  test.each([
    ["in one list", (count: number) => ({ a: Array.from({ length: count - 2 }, () => 1) })],
    [
      "as members",
      (count: number) => Object.fromEntries(Array.from({ length: count - 1 }, (_, index) => [`m${index}`, "x"])),
    ],
  ])("of the most values that any tool takes, %s, are taken, and of one more refused", (_, of) => {
    const argumentsOf = (count: number) => brokenTool(call({ argumentsJson: utf8(JSON.stringify(of(count))) }));
    expect(argumentsOf(ARGUMENT_VALUES_MAX)).toEqual([]);
    expect(argumentsOf(ARGUMENT_VALUES_MAX + 1)).toEqual(["WIRE:call.arguments_json call.arguments_json max_items"]);
  });
});

describe("CTR-0033: all violations come in one answer, in the order of the tags", () => {
  test("of a git operation", () => {
    const value = { operation: "NO", args: ["x".repeat(MAX_ARG_LEN + 1)], cwd: "../up" };
    expect(broken({ dedupeKey: "x".repeat(MAX_ID_LEN + 1), tool: git(value) })).toEqual([
      "INV-0001 request_id required",
      "INV-0002 session_token required",
      "INV-0003 dedupe_key max_length",
      "INV-0021 git_op.operation known_operation",
      "INV-0023 git_op.args[0] max_length",
      "INV-0024 git_op.cwd no_path_traversal",
    ]);
  });

  test("of an inference call", () => {
    const value = {
      provider: "",
      model: "",
      promptHash: HASH.subarray(1),
      maxTokens: 2_000_000n,
      systemPromptHash: HASH.subarray(1),
    };
    expect(brokenTool(infer(value))).toEqual([
      "INV-0025 inference.provider required",
      "INV-0026 inference.model required",
      "INV-0027 inference.prompt_hash hash_size",
      "INV-0028 inference.max_tokens max_value",
      "INV-0029 inference.system_prompt_hash hash_size",
    ]);
  });

  test("CTR-0034: a valid request has none, and CTR-0031, CTR-0032: messages name the limit and quote no input", () => {
    expect(brokenTool(shell({ cwd: "", timeoutMs: 0n, env: ["A=1"] }))).toEqual([]);
    const [found] = validateRequest(
      create(ToolRequestSchema, { requestId: "r", sessionToken: "hunter2".repeat(99), tool: read({}) }),
    );
    expect(found).toEqual({
      field: "session_token",
      rule: "max_length",
      message: "is longer than 256 characters; shorten it",
    });
  });
});
