/**
 * Bad input through the front door of the library: each is refused by the right layer and rule, and the ledger has it.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { MAX_PATH_LEN } from "../../../src/base/limits.ts";
import { createKernel, type Kernel, type KernelSession } from "../../../src/index.ts";
import { type LedgerReader, openLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { makePlace, type Place } from "../../support/place.ts";

let place: Place;
let kernel: Kernel;
let session: KernelSession;
let reader: LedgerReader;

beforeAll(async () => {
  place = makePlace();
  const { workspace, outside, put } = place;
  put("config/handrail.yaml", "alert: { freeze: false }\n"); // one session makes every mistake
  put("workspace/a.txt", "one\ntwo\n");
  put("workspace/dir/b.txt", "b\n");
  put("workspace/.env", "KEY=secret\n");
  put("workspace/.git/config", "[core]\n");
  put("workspace/contracts/api.md", "api\n");
  put("workspace/latin1.txt", Buffer.from("caf\xe9\n", "latin1"));
  put("workspace/binary", Buffer.from([0, 1, 2]));
  put("outside/secret.txt", "outside-content\n");
  mkdirSync(join(outside, "there"));
  for (const [name, target] of [
    ["link-out", join(outside, "secret.txt")],
    ["link-out-missing", join(outside, "missing.txt")],
    ["link-out-directory", outside],
    ["link-up", "../outside/secret.txt"],
    ["link-env", ".env"],
    ["link-env-missing", ".env.gone"],
    ["link-null", "/dev/null"],
    ["loop", "loop"],
  ] as const)
    symlinkSync(target, join(workspace, name));
  linkSync(join(outside, "secret.txt"), join(workspace, "hard-link"));
  expect(spawnSync("mkfifo", [join(workspace, "fifo")]).status).toBe(0);
  kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
    awaitSequences: true,
  });
  session = await kernel.openSession({ workspace });
  reader = await openLedgerReader(place.state);
});

afterAll(async () => {
  await reader.close();
  await kernel.close();
  place.remove();
});

/** What a call was answered, in the words of its result document. */
async function answerTo(tool: string, args: unknown) {
  const { response, result } = await session.call(tool, args as JsonObject);
  const error = result.status === "error" ? (result.error as JsonObject) : undefined;
  const recorded = response.ledgerSequence === undefined ? undefined : await reader.show(response.ledgerSequence);
  const payload = JSON.parse(Buffer.from(recorded?.payload ?? []).toString() || "null") as JsonObject | null;
  return { outcome: response.outcome, error, payload, eventType: recorded?.entry.eventType };
}

const write = (path: string) => ({ path, content: "x" });
const edit = (path: string) => ({ path, edits: [{ operation: "replace", spec: "x", content: "y" }] });

describe("refused", () => {
  const TRAVERSAL = ["WORKSPACE_PATH_TRAVERSAL", "workspace", "INV-0007"] as const;
  const ESCAPE = ["WORKSPACE_PATH_ESCAPE", "workspace", "WORKSPACE:scope"] as const;
  const LINK = ["WORKSPACE_SYMLINK_ESCAPE", "workspace", "WORKSPACE:symlink"] as const;
  const SECRET = ["WORKSPACE_BLOCKED_ZONE", "workspace", "ZONE:secret"] as const;
  const MANAGED = ["WORKSPACE_BLOCKED_ZONE", "workspace", "ZONE:managed"] as const;
  const input = (tool: string) => ["TOOL_INPUT_INVALID", "call", `SCHEMA:${tool}`] as const;

  test.each([
    ["an unknown tool", "delete_everything", {}, ["TOOL_SPEC_MISSING", "gates", "TOOL:unknown"]],
    ["a shell, which is never there", "run_command", { command: "id" }, ["TOOL_SPEC_MISSING", "gates", "TOOL:unknown"]],
    ["a tool without a name", "", {}, ["VALIDATION_FAILED", "validate", "INV-0004"]],
    [
      "arguments that are a list",
      "read_file",
      ["a.txt"],
      ["VALIDATION_FAILED", "validate", "WIRE:call.arguments_json"],
    ],
    ["an unknown property", "read_file", { path: "a.txt", follow: true }, input("read_file")],
    [
      "a prototype as a property",
      "read_file",
      JSON.parse('{"path":"a.txt","__proto__":{"limit":1}}'),
      ["VALIDATION_FAILED", "validate", "WIRE:call.arguments_json"],
    ],
    ["a wrong type", "read_file", { path: 7 }, input("read_file")],
    ["no path", "read_file", {}, input("read_file")],
    ["an empty path", "list_files", { path: "" }, input("list_files")],
    ["a negative offset", "read_file", { path: "a.txt", offset: -1 }, input("read_file")],
    ["half an offset", "read_file", { path: "a.txt", offset: 0.5 }, input("read_file")],
    ["an over-long path", "read_file", { path: "x".repeat(MAX_PATH_LEN + 1) }, input("read_file")],
    ["two writing modes", "write_file", { ...write("a.txt"), append: true, create_only: true }, input("write_file")],
    ["no edits", "edit_file", { path: "a.txt", edits: [] }, input("edit_file")],
    ["a null byte", "read_file", { path: "a.txt\0.md" }, ESCAPE],
    ["a component that goes up", "read_file", { path: "../outside/secret.txt" }, TRAVERSAL],
    ["one that goes up and comes back", "read_file", { path: "dir/../a.txt" }, TRAVERSAL],
    ["one written for another system", "write_file", write("dir\\..\\..\\x"), TRAVERSAL],
    ["an absolute path outside", "read_file", { path: "/etc/passwd" }, ESCAPE],
    ["an absolute path outside, written", "write_file", write("/tmp/handrail-never"), ESCAPE],
    ["the root", "list_files", { path: "/" }, ESCAPE],
    ["a link out", "read_file", { path: "link-out" }, LINK],
    ["a link out, written", "write_file", write("link-out"), LINK],
    ["a link out, edited", "edit_file", edit("link-out"), LINK],
    ["a link out by a relative target", "read_file", { path: "link-up" }, LINK],
    ["a directory link out, listed", "list_files", { path: "link-out-directory" }, LINK],
    ["a file through a directory link out", "write_file", write("link-out-directory/new.txt"), LINK],
    ["a link to a device outside", "read_file", { path: "link-null" }, LINK],
    ["a link to itself", "read_file", { path: "loop" }, LINK],
    ["a secret file", "read_file", { path: ".env" }, SECRET],
    ["a secret file in other letters", "read_file", { path: "dir/.ENV.local" }, SECRET],
    ["a secret file that is to be made", "write_file", write("secrets/new"), SECRET],
    ["a link to a secret file", "read_file", { path: "link-env" }, SECRET],
    ["a link to a secret file, written", "write_file", write("link-env"), SECRET],
    ["a managed file", "read_file", { path: ".git/config" }, MANAGED],
    ["a managed file, edited", "edit_file", edit("node_modules/x/index.js"), MANAGED],
    [
      "a shared file, written",
      "write_file",
      write("contracts/api.md"),
      ["WORKSPACE_READ_ONLY", "workspace", "ZONE:shared"],
    ],
    [
      "a file with a second name, written",
      "write_file",
      write("hard-link"),
      ["WORKSPACE_HARD_LINK", "workspace", "WORKSPACE:hard_link"],
    ],
    [
      "a file that people's tools obey",
      "write_file",
      write("CLAUDE.md"),
      ["TOOL_APPROVAL_REQUIRED", "approval", "dev.write-protected"],
    ],
  ])("%s", async (_, tool, args, expected) => {
    const { error, payload, eventType } = await answerTo(tool, args);
    expect([error?.["code"], error?.["layer"], error?.["rule_id"]]).toEqual(expected);
    expect(error?.["message"]).toMatch(/^[^A-Z].{10,}[^.]$/su);
    const [code, layer, ruleId] = expected;
    expect([eventType, payload]).toEqual([
      "tool_execution_denied",
      expect.objectContaining({ decision: "deny", reason: code?.toLowerCase(), layer, ruleId }),
    ]);
  });

  test("nothing of it was done", () => {
    expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("one\ntwo\n");
    expect(readFileSync(join(place.outside, "secret.txt"), "utf8")).toBe("outside-content\n");
    expect(statSync(join(place.outside, "new.txt"), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("all violations of the arguments stand in one answer", async () => {
    const { error } = await answerTo("read_file", { path: "", offset: -1, encoding: "rot13", extra: 1 });
    const violations = error?.["violations"] as unknown as JsonObject[];
    expect(violations.map(({ field, rule }) => [field, rule]).sort()).toEqual([
      ["encoding", "format"],
      ["extra", "unknown_property"],
      ["offset", "min_value"],
      ["path", "required"],
    ]);
  });
});

describe("failed", () => {
  test.each([
    ["a file that does not exist", "read_file", { path: "none.txt" }, "FILE_NOT_FOUND"],
    ["a path of the greatest length", "read_file", { path: "x".repeat(MAX_PATH_LEN) }, "IO_ERROR"],
    ["a FIFO", "read_file", { path: "fifo" }, "NOT_A_FILE"],
    ["a FIFO, written", "write_file", write("fifo"), "NOT_A_FILE"],
    ["a FIFO, edited", "edit_file", edit("fifo"), "NOT_A_FILE"],
    ["a directory as a file", "read_file", { path: "dir" }, "NOT_A_FILE"],
    ["a directory as a file, written", "write_file", write("dir"), "NOT_A_FILE"],
    ["a directory as a file, edited", "edit_file", edit("dir"), "NOT_A_FILE"],
    ["a file as a directory", "list_files", { path: "a.txt" }, "NOT_A_DIRECTORY"],
    ["a file as a directory on the way", "read_file", { path: "a.txt/b" }, "NOT_A_DIRECTORY"],
    ["a file as a directory on the way, written", "write_file", write("a.txt/b"), "NOT_A_DIRECTORY"],
    ["bytes that are not UTF-8", "read_file", { path: "latin1.txt" }, "INVALID_UTF8"],
    ["bytes that are not text", "read_file", { path: "binary" }, "BINARY_FILE"],
    ["a file that exists already", "write_file", { ...write("a.txt"), create_only: true }, "FILE_EXISTS"],
    ["an edit that matches nothing", "edit_file", edit("a.txt"), "MATCH_COUNT_MISMATCH"],
  ])("%s", async (_, tool, args, code) => {
    const { outcome, payload, eventType } = await answerTo(tool, args);
    expect(outcome).toMatchObject({
      kind: "error",
      code,
      retryable: false,
      suggestion: expect.stringMatching(/.{10,}/),
    });
    expect([eventType, payload]).toEqual([
      "tool_executed",
      expect.objectContaining({ tool, success: false, errorCode: code }),
    ]);
  });

  test("the same bytes are read as base64", async () => {
    const { outcome } = await answerTo("read_file", { path: "latin1.txt", encoding: "base64" });
    expect(outcome).toMatchObject({
      kind: "success",
      data: { content: Buffer.from("caf\xe9\n", "latin1").toString("base64") },
    });
  });
});

describe("what exists outside does not show", () => {
  const answersOf = async (tool: string, paths: readonly string[]) => {
    const answers: unknown[] = [];
    for (const path of paths) {
      const { error } = await answerTo(tool, tool === "write_file" ? write(path) : { path });
      answers.push(JSON.parse(JSON.stringify(error).replaceAll(JSON.stringify(path).slice(1, -1), "PATH")));
    }
    return answers;
  };

  test.each(["read_file", "write_file", "list_files"])(
    "%s answers alike for what is there and what is not",
    async (tool) => {
      const { outside } = place;
      for (const [existing, missing] of [
        [join(outside, "secret.txt"), join(outside, "missing.txt")],
        [join(outside, "there"), join(outside, "not-there")],
        ["../outside/secret.txt", "../outside/missing.txt"],
        ["link-out", "link-out-missing"],
        ["link-out-directory/secret.txt", "link-out-directory/missing.txt"],
        ["link-env", "link-env-missing"],
      ] as const) {
        const [first, second] = await answersOf(tool, [existing, missing]);
        expect(JSON.parse(JSON.stringify(second).replaceAll(".env.gone", ".env"))).toEqual(first);
      }
    },
  );
});

describe("kept as they are", () => {
  test("line ends, byte order mark, odd bytes and mode survive an edit", async () => {
    const path = join(place.workspace, "windows.txt");
    writeFileSync(
      path,
      Buffer.concat([Buffer.from("\ufeffone\r\ntwo\r\n"), Buffer.from([0xff, 0xfe]), Buffer.from("three")]),
    );
    chmodSync(path, 0o751);
    const edits = [{ operation: "replace", spec: "two", content: "zwei" }];
    expect((await answerTo("edit_file", { path: "windows.txt", edits })).outcome.kind).toBe("success");
    expect(readFileSync(path)).toEqual(
      Buffer.concat([Buffer.from("\ufeffone\r\nzwei\r\n"), Buffer.from([0xff, 0xfe]), Buffer.from("three")]),
    );
    expect(statSync(path).mode & 0o777).toBe(0o751);
  });

  test("a byte order mark and line ends are read as they are, and a name with dots is a name", async () => {
    writeFileSync(join(place.workspace, "a..b"), "\ufeffone\r\n");
    expect((await answerTo("read_file", { path: "a..b" })).outcome).toMatchObject({
      kind: "success",
      data: { content: "\ufeffone\r\n" },
    });
  });

  test("a file inside is reached by its absolute path and by the alias", async () => {
    for (const path of [join(place.workspace, "dir/b.txt"), "/workspace/dir/b.txt", "./dir//b.txt"]) {
      expect((await answerTo("read_file", { path })).outcome).toMatchObject({
        kind: "success",
        data: { content: "b\n" },
      });
    }
  });
});
