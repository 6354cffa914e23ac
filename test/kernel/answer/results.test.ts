/** What may leave: redacted first, then bounded, then labelled. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { decodeResponse, encodeRequest } from "../../../src/wire/protobuf.ts";
import { memoryKernel, START_MS, testTool } from "../../support/memory-kernel.ts";

const LABEL_SOURCE = { timestamp: new Date(START_MS).toISOString() };

describe("the session's own token", () => {
  test("is hidden in text, and the result is labelled secret", async () => {
    const { call, root, token, ledger } = await memoryKernel();
    writeFileSync(join(root, "notes.txt"), `token=${token}\nagain ${token}\n`);
    const response = await call("read_file", { path: "notes.txt" });
    expect(response.outcome).toMatchObject({
      kind: "success",
      data: { content: "token=[REDACTED:session-token]\nagain [REDACTED:session-token]\n" },
      label: { trustLevel: "verified", dataClass: "secret" },
    });
    expect(ledger.events.slice(-2)).toMatchObject([
      { type: "tool_executed", payload: { secretsFound: 2, label: { dataClass: "secret" } } },
      { type: "secret_redacted", payload: { tool: "read_file", rules: ["session-token"], secretsFound: 2 } },
    ]);
    expect(JSON.stringify([response, ledger.events])).not.toContain(token);
  });

  test("is hidden in raw bytes, and the bytes around it stay as they are", async () => {
    const { door, root, token } = await memoryKernel();
    writeFileSync(
      join(root, "blob"),
      Buffer.concat([Buffer.from([0xff, 0x00, 0xfe]), Buffer.from(token), Buffer.from([0xc3])]),
    );
    const tool = { case: "fileRead", value: { path: "blob" } } as const;
    const request = encodeRequest(create(ToolRequestSchema, { requestId: "r", sessionToken: token, tool }));
    const { result } = decodeResponse(await door.executeBytes(request, new AbortController().signal));
    expect(result.case).toBe("success");
    const bytes = result.case === "success" ? Buffer.from(result.value.inlineResult) : Buffer.alloc(0);
    expect(bytes.toString("latin1")).toBe("\xff\0\xfe[REDACTED:session-token]\xc3");
  });

  test("is hidden in the diff of an edit and in file names", async () => {
    const { call, root, token } = await memoryKernel();
    writeFileSync(join(root, token), `${token}\nold\n`);
    const listing = await call("list_files", { path: "." });
    writeFileSync(join(root, "a.txt"), `${token}\nold\n`);
    const edit = await call("edit_file", {
      path: "a.txt",
      edits: [{ operation: "replace", spec: "old", content: "new" }],
    });
    expect([listing.outcome.kind, edit.outcome.kind]).toEqual(["success", "success"]);
    expect(JSON.stringify([listing, edit])).not.toContain(token);
  });
});

describe("labels", () => {
  test("are those that the tool declares", async () => {
    const { call } = await memoryKernel();
    const { outcome } = await call("list_files", { path: "." });
    expect(outcome).toMatchObject({
      label: { trustLevel: "verified", dataClass: "internal", source: { origin: "tool:list_files", ...LABEL_SOURCE } },
    });
  });

  test("are the most careful ones when the tool declares none", async () => {
    const { call } = await memoryKernel({ tools: [testTool("plain", () => ({ kind: "data", data: {} }))] });
    const { outcome } = await call("plain", { path: "a" });
    expect(outcome).toMatchObject({
      label: { trustLevel: "untrusted", dataClass: "internal", source: { origin: "tool:plain", ...LABEL_SOURCE } },
    });
  });
});
