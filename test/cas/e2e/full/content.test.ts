/**
 * Stored content as its users meet it: `handrail cas`, large results over the framed socket and MCP, damage found and
 * recorded.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { blake3Hex } from "../../../../src/base/hash.ts";
import { INLINE_RESULT_BYTES_MAX, SHOWN_BYTES_MAX } from "../../../../src/base/limits.ts";
import { ToolRequestSchema } from "../../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { createKernel } from "../../../../src/server/doors/library.ts";
import { CONTENT_PROBLEMS_MAX } from "../../../../src/server/ledger/content-verification.ts";
import { openLedgerStore } from "../../../../src/stores/embedded/ledger/ledger-store.ts";
import { connectFramed } from "../../../../src/transports/framed/index.ts";
import {
  collect,
  dataIn,
  handrail,
  linesOf,
  oneJsonLine,
  startHandrail,
  until,
} from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { factsOf, textsOf } from "../../../support/mcp-result.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { connectRpc } from "../../../support/rpc-client.ts";

function objectPath(place: Place, hash: string): string {
  return join(place.state, "cas", hash.slice(0, 2), hash.slice(2, 4), hash);
}

/** Makes a large result of a call by the workspace's own user, so that it is in the content store and in the ledger. */
async function largeResult(place: Place): Promise<string> {
  for (let index = 0; index < 1500; index += 1) place.put(`workspace/many/${"long-name-".repeat(8)}${index}.txt`, "");
  const args = ["call", "list_files", "--json", '{"path":"many","max_entries":2000}', "--workspace", place.workspace];
  const { stdout } = await handrail(place, args);
  const { data } = oneJsonLine<{ data: { content_hash: string } }>(stdout);
  return data.content_hash;
}

describe("handrail cas", () => {
  test("put, ls, get, gc and verify, as people type them", async () => {
    const place = freshPlace();
    const report = place.put("report.xml", "<tests/>\n");
    const hash = blake3Hex("<tests/>\n");
    expect(await handrail(place, ["cas", "put", report])).toEqual({ code: 0, stdout: `${hash}\n`, stderr: "" });
    const piped = await handrail(place, ["cas", "put", "-", "--json"], { input: "piped" });
    expect([piped.code, dataIn(piped.stdout)]).toEqual([0, { content_hash: blake3Hex("piped"), size_bytes: 5 }]);
    const listed = await handrail(place, ["cas", "ls", "--json"]);
    expect(linesOf(listed.stdout).map((line) => JSON.parse(line).data.content_hash)).toEqual(
      [hash, blake3Hex("piped")].sort(),
    );
    expect((await handrail(place, ["cas", "get", hash])).stdout).toBe("<tests/>\n");
    const fetched = join(place.base, "fetched");
    expect((await handrail(place, ["cas", "get", hash.toUpperCase(), "-o", fetched])).code).toBe(0);
    expect(readFileSync(fetched, "utf8")).toBe("<tests/>\n");
    expect((await handrail(place, ["cas", "gc", "--dry-run"])).stdout).toContain("would remove 0 objects");
    const collected = await handrail(place, ["cas", "gc", "--grace", "0s", "--json"]);
    expect(dataIn(collected.stdout)).toEqual({
      objects: 2,
      bytes: 14,
      strayFiles: 0,
      temporaryFiles: 0,
      dryRun: false,
    });
    expect((await handrail(place, ["cas", "verify", "--json"])).code).toBe(0);
    const gone = await handrail(place, ["cas", "get", hash]);
    expect([gone.code, gone.stdout]).toEqual([64, ""]);
    expect(gone.stderr).toContain("there is no content");
    const recorded = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType.startsWith("content_"));
    expect(
      recorded.map(({ entry, payload }) => [entry.eventType, payload["contentHash"] ?? payload["objects"]]),
    ).toEqual([
      ["content_stored", hash],
      ["content_stored", blake3Hex("piped")],
      ["content_collected", 2],
    ]);
  });

  test.each([
    [["cas", "get", "abc"], "is no hash"],
    [["cas", "get", blake3Hex("nothing")], "there is no content"],
    [["cas", "put", "missing-file"], "is no file that can be read"],
    [["cas", "put", "."], "is no file that can be read"],
    [["cas", "gc", "--grace", "soon"], "is not a duration"],
  ])("%j exits with 64 and says why", async (args, why) => {
    const place = freshPlace();
    const { code, stdout, stderr } = await handrail(place, args);
    expect([code, stdout, linesOf(stderr).length]).toEqual([64, "", 1]);
    expect(stderr).toContain(why);
  });

  test("a FIFO is refused without waiting for a writer", async () => {
    const place = freshPlace();
    const fifo = join(place.workspace, "fifo");
    execFileSync("mkfifo", [fifo]);
    const { code, stderr } = await handrail(place, ["cas", "put", fifo]);
    expect([code, stderr]).toEqual([64, expect.stringContaining("is no file that can be read")]);
  });

  test("altered content is found by verify, never written out, put aside, and recorded", async () => {
    const place = freshPlace();
    await handrail(place, ["cas", "put", "-"], { input: "x".repeat(2_000_000) });
    const hash = blake3Hex("x".repeat(2_000_000));
    expect((await handrail(place, ["cas", "verify"])).code).toBe(0);
    chmodSync(objectPath(place, hash), 0o600);
    writeFileSync(objectPath(place, hash), `${"x".repeat(1_999_999)}y`);
    const verified = await handrail(place, ["cas", "verify", "--json"]);
    expect([verified.code, dataIn(verified.stdout)]).toEqual([
      1,
      expect.objectContaining({
        ok: false,
        problems: [{ hash, problem: "its bytes do not fit the hashes of its blocks" }],
      }),
    ]);
    const out = join(place.base, "out");
    const fetched = await handrail(place, ["cas", "get", hash, "-o", out]);
    expect([fetched.code, existsSync(out), readdirSync(place.base).filter((name) => name.endsWith(".part"))]).toEqual([
      64,
      false,
      [],
    ]);
    expect(fetched.stderr).toContain("were altered or lost");
    expect(readdirSync(join(place.state, "cas", "quarantine"))).toHaveLength(1);
    const events = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "content_quarantined");
    expect(events.map(({ payload }) => payload)).toEqual([{ contentHash: hash, severity: "critical" }]);
    expect((await handrail(place, ["cas", "verify"])).stdout).toContain("the content is damaged: 1 problems");
  });

  test("verify lists the first problems and counts the others", async () => {
    const place = freshPlace();
    await handrail(place, ["cas", "put", "-"], { input: "text" });
    const { default: Sqlite } = await import("better-sqlite3");
    const database = new Sqlite(join(place.state, "content.db"));
    const insert = database.prepare("INSERT INTO ledger_references VALUES (?, 'ses_one', ?, 0)");
    const lost = CONTENT_PROBLEMS_MAX + 2;
    database.transaction(() => {
      for (let index = 0; index < lost; index += 1) insert.run(blake3Hex(`lost ${index}`), `req-${index}`);
    })();
    database.close();
    rmSync(objectPath(place, blake3Hex("text")));
    const shown = await handrail(place, ["cas", "verify"]);
    expect([shown.code, linesOf(shown.stdout).length]).toEqual([1, CONTENT_PROBLEMS_MAX + 2]);
    expect(linesOf(shown.stdout).slice(-2)).toEqual([
      "and 3 more",
      `the content is damaged: ${lost + 1} problems in 1 objects`,
    ]);
    const { stdout } = await handrail(place, ["cas", "verify", "--json"]);
    expect(dataIn(stdout)).toMatchObject({ ok: false, problemsOmitted: 3 });
  });

  test("what the ledger names stays until its payload is pruned; a lost reference is found and put back", async () => {
    const place = freshPlace();
    const hash = await largeResult(place);
    const events = (await readEvidence(place.state)).filter(({ payload }) => payload["resultHash"] !== undefined);
    expect(events.map(({ entry, payload }) => [entry.eventType, payload["resultHash"]])).toEqual([
      ["tool_executed", hash],
    ]);
    expect((await handrail(place, ["cas", "gc", "--grace", "0s"])).stdout).toContain("removed 0 objects");

    const { default: Sqlite } = await import("better-sqlite3");
    const sql = (text: string): void => {
      const database = new Sqlite(join(place.state, "content.db"));
      database.exec(text);
      database.close();
    };
    sql("DELETE FROM ledger_references");
    const lost = await handrail(place, ["cas", "verify"]);
    expect([lost.code, lost.stdout]).toEqual([
      1,
      expect.stringContaining("no reference keeps it; run it with --repair"),
    ]);
    const repaired = await handrail(place, ["cas", "verify", "--repair"]);
    expect([repaired.code, repaired.stdout]).toEqual([0, expect.stringContaining("references: 1 added, 0 removed")]);

    const ledger = await openLedgerStore(place.state);
    await ledger.prunePayloads((await ledger.head()).sequence);
    await ledger.close();
    sql("UPDATE ledger_references SET added_at_ms = 0");
    expect((await handrail(place, ["cas", "verify", "--repair"])).stdout).toContain("references: 0 added, 1 removed");
    expect((await handrail(place, ["cas", "gc", "--grace", "0s"])).stdout).toContain("removed 1 objects");
  });

  test("what the operator stores, the user's sessions in that workspace can publish and others fetch", async () => {
    const place = freshPlace();
    await handrail(place, ["cas", "put", "-"], { input: "from the operator" });
    const kernel = await createKernel({ stateDirectory: place.state, configDirectory: place.config, environment: {} });
    try {
      const mine = await kernel.openSession({ workspace: place.workspace, userId: userInfo().username });
      const hash = blake3Hex("from the operator");
      const published = await mine.call("artifact_publish", {
        artifact_id: "notes",
        content_hash: hash,
        category: "text",
      });
      expect(published.result).toMatchObject({ status: "success" });
      const theirs = await kernel.openSession({ workspace: place.workspace, userId: "somebody else" });
      expect((await theirs.call("artifact_fetch", { artifact_id: "notes" })).result).toMatchObject({
        data: { content: "from the operator" },
      });
      const elsewhere = await kernel.openSession({ workspace: place.outside, userId: userInfo().username });
      expect((await elsewhere.call("artifact_fetch", { artifact_id: "notes" })).result).toMatchObject({
        error: { code: "CONTENT_NOT_FOUND" },
      });
      const reader = await kernel.openSession({
        workspace: place.workspace,
        userId: "somebody else",
        preset: "reader",
      });
      expect((await reader.call("artifact_fetch", { artifact_id: "notes" })).result).toMatchObject({
        status: "success",
      });
      expect((await reader.call("put_content", { content: "x" })).result).toMatchObject({
        error: { code: "PUT_CONTENT_DENIED" },
      });
    } finally {
      await kernel.close();
    }
  });
});

describe("CTR-0024 over the front doors", () => {
  test("a file of more than 1 MiB over the framed socket: by its hash, and in parts", async () => {
    const place = freshPlace();
    const bytes = Buffer.alloc(INLINE_RESULT_BYTES_MAX + 10, "0123456789");
    place.put("workspace/big.bin", bytes);
    const server = startHandrail(place, ["serve"]);
    const output = collect(server);
    await until(() => output().stderr.includes("listening on"));
    const session = await handrail(place, ["sessions", "create", "--workspace", place.workspace, "--json"]);
    const { token } = dataIn<{ token: string }>(session.stdout);
    const client = await connectFramed(join(place.state, "handrail.sock"));
    try {
      const read = create(ToolRequestSchema, {
        requestId: "1",
        sessionToken: token,
        tool: { case: "fileRead", value: { path: "big.bin" } },
      });
      const { result } = await client.execute(read);
      if (result.case !== "success") throw new Error("the read failed");
      expect([Buffer.from(result.value.resultHash).toString("hex"), result.value.inlineResult.byteLength]).toEqual([
        blake3Hex(bytes),
        0,
      ]);
      const args = { content_hash: blake3Hex(bytes), offset: INLINE_RESULT_BYTES_MAX, limit: 10 };
      const call = {
        case: "call",
        value: { name: "artifact_fetch", argumentsJson: Buffer.from(JSON.stringify(args)) },
      } as const;
      const part = await client.execute(create(ToolRequestSchema, { requestId: "2", sessionToken: token, tool: call }));
      if (part.result.case !== "success") throw new Error("the fetch failed");
      const { data } = JSON.parse(Buffer.from(part.result.value.inlineResult).toString());
      expect(data.content).toBe(bytes.subarray(INLINE_RESULT_BYTES_MAX).toString());
    } finally {
      await client.close();
    }
    expect((await handrail(place, ["cas", "verify"])).stdout).toContain("1 results of the ledger");
  });

  test("over MCP a large result is cut, and the way to the rest that it names leads there", async () => {
    const place = freshPlace();
    for (let index = 0; index < 1500; index += 1) place.put(`workspace/many/${"long-name-".repeat(8)}${index}.txt`, "");
    const client = await connectRpc(place);
    const cut = await client.call("list_files", { path: "many", max_entries: 2000 });
    const [preview = "", note = ""] = textsOf(cut);
    const [, size, rest = ""] = /^\[the result has (\d+) bytes of JSON.*; the rest: (\{.*\})\]$/.exec(note) ?? [];
    const { tool, arguments: args } = JSON.parse(rest) as { tool: string; arguments: { content_hash: string } };
    expect([cut.isError, factsOf(cut).metadata["truncated"]]).toEqual([false, true]);
    expect(Number(size)).toBeGreaterThan(SHOWN_BYTES_MAX);
    expect(Buffer.byteLength(JSON.stringify(preview))).toBeLessThanOrEqual(SHOWN_BYTES_MAX);
    let text = preview;
    let next: object | undefined = args;
    for (let part = 0; next !== undefined && part < 50; part += 1) {
      const [more = "", where = ""] = textsOf(await client.call(tool, next));
      text += more;
      const offset = /next_offset (\d+)\]$/.exec(where)?.[1];
      next = offset === undefined ? undefined : { ...args, offset: Number(offset) };
    }
    expect(Buffer.byteLength(text)).toBe(Number(size));
    expect(blake3Hex(text)).toBe(args.content_hash);
    expect(JSON.parse(text).entries).toHaveLength(1500);
  });
});
