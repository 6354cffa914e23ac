// The tools for whole files on a real workspace: exact bytes, whole characters, bounds and order.
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { INLINE_RESULT_BYTES_MAX, MAX_PATH_LEN } from "../../../src/base/limits.ts";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import type { ReplyForm, Tool, ToolContext } from "../../../src/model/tool/tool.ts";
import { characterBoundary } from "../../../src/text/characters.ts";
import { listFiles, readFile, writeFile } from "../../../src/tools/file/file-tools.ts";
import { READ_BYTES_DEFAULT } from "../../../src/tools/file/read-file.ts";
import { newPlace, type Place } from "../../support/files-fixture.ts";

let place: Place;
beforeEach(() => {
  place = newPlace();
});
afterEach(() => place.close());

async function run(tool: Tool, args: unknown, reply: ReplyForm = "result"): Promise<unknown> {
  const context = { files: place.files, reply } as ToolContext;
  try {
    return await tool.execute(tool.parameters.parse(args), context);
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { code: error.code, suggestion: error.suggestion };
  }
}
const put = (name: string, content: string | Uint8Array) => writeFileSync(join(place.root, name), content);
const read = (args: object, reply?: ReplyForm) => run(readFile, { path: "f.txt", ...args }, reply);

function isStream(output: unknown): output is { readonly chunks: AsyncIterable<Uint8Array> } {
  return typeof output === "object" && output !== null && "chunks" in output;
}

describe("read_file", () => {
  test("text comes whole, with byte order mark and CRLF as they are", async () => {
    put("f.txt", "\ufeffone\r\ntwö\r\n");
    expect(await read({})).toEqual({
      kind: "data",
      data: { path: "f.txt", encoding: "utf-8", content: "\ufeffone\r\ntwö\r\n", offset: 0, bytes: 14, size_bytes: 14 },
    });
  });

  test("ranges keep characters whole, and reading on from `next_offset` gives the whole text", async () => {
    const text = "aé€😀z".repeat(3);
    put("f.txt", text);
    const { length: sizeBytes } = Buffer.from(text);
    for (let limit = 1; limit < sizeBytes; limit += 1) {
      let seen = "";
      for (let offset: number | undefined = 0; offset !== undefined; ) {
        const { data } = (await read({ offset, limit })) as {
          data: { content: string; bytes: number; next_offset?: number };
        };
        expect(data.bytes).toBeGreaterThan(0);
        seen += data.content;
        offset = data.next_offset;
      }
      expect(seen).toBe(text);
    }
    expect(await read({ offset: 2, limit: 1 })).toMatchObject({
      data: { content: "", offset: 3, bytes: 0, next_offset: 3 },
    });
    expect(await read({ offset: 1000, limit: 5 })).toMatchObject({
      data: { content: "", bytes: 0, size_bytes: sizeBytes },
    });
  });

  test("binary and invalid text is refused with the way to read it, which gives the bytes", async () => {
    put("f.txt", Buffer.from([0x61, 0, 0x62]));
    expect(await read({})).toEqual({ code: "BINARY_FILE", suggestion: 'read it with `encoding: "base64"`' });
    put("f.txt", Buffer.from([0x61, 0xff, 0x80]));
    expect(await read({})).toEqual({ code: "INVALID_UTF8", suggestion: 'read it with `encoding: "base64"`' });
    // a stray byte is not trimmed away
    expect(await read({ offset: 2, limit: 1 })).toMatchObject({ code: "INVALID_UTF8" });
    expect(await read({ encoding: "base64", offset: 1, limit: 1 })).toMatchObject({
      data: { content: "/w==", offset: 1, bytes: 1, next_offset: 2 },
    });
  });

  test("a file larger than allowed needs a limit; exactly as large does not", async () => {
    put("f.txt", "x".repeat(READ_BYTES_DEFAULT));
    expect(await read({})).toMatchObject({ data: { bytes: READ_BYTES_DEFAULT } });
    put("f.txt", "x".repeat(READ_BYTES_DEFAULT + 1));
    expect(await read({})).toMatchObject({ code: "FILE_TOO_LARGE", suggestion: expect.stringContaining("`offset`") });
    expect(await read({ limit: 10 })).toMatchObject({ kind: "data", data: { bytes: 10, next_offset: 10 } });
    expect(await read({ limit: READ_BYTES_DEFAULT + 1 })).toMatchObject({
      truncated: true,
      data: { bytes: READ_BYTES_DEFAULT },
    });
    expect(await read({ max_bytes: READ_BYTES_DEFAULT + 1 })).toMatchObject({
      data: { bytes: READ_BYTES_DEFAULT + 1 },
    });
  });

  test("raw bytes are given as they are, and as a stream when they are more than one answer carries (CTR-0024)", async () => {
    const bytes = Buffer.from([0, 0xff, 0x80]);
    put("f.txt", bytes);
    expect(await read({ offset: 0, limit: 0 }, "bytes")).toEqual({ kind: "bytes", bytes });
    expect(await read({ offset: 1, limit: 1 }, "bytes")).toEqual({
      kind: "bytes",
      bytes,
      window: { start: 1, end: 2 },
    });
    truncateSync(join(place.root, "f.txt"), INLINE_RESULT_BYTES_MAX);
    expect(await read({}, "bytes")).toMatchObject({ kind: "bytes", bytes: { byteLength: INLINE_RESULT_BYTES_MAX } });
    truncateSync(join(place.root, "f.txt"), INLINE_RESULT_BYTES_MAX + 1);
    const large = await read({}, "bytes");
    if (!isStream(large)) throw new Error("the bytes did not come as a stream");
    let size = 0;
    for await (const chunk of large.chunks) size += chunk.byteLength;
    expect(size).toBe(INLINE_RESULT_BYTES_MAX + 1);
  });

  test("a boundary is never inside a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, position) => {
        const bytes = Buffer.from(text);
        const boundary = characterBoundary(bytes, Math.min(position, bytes.length));
        expect(Buffer.from(bytes.subarray(0, boundary).toString())).toEqual(bytes.subarray(0, boundary));
        expect(boundary - Math.min(position, bytes.length)).toBeLessThan(4);
      }),
    );
  });
});

describe("write_file", () => {
  test("text and bytes are stored exactly, in new directories too", async () => {
    expect(await run(writeFile, { path: "a/b.txt", content: "\ufeffx\r\n" })).toEqual({
      kind: "data",
      data: { path: "a/b.txt", created: true, size_bytes: 6 },
    });
    expect(await run(writeFile, { path: "a/b.txt", content: Buffer.from([0xff, 0]), append: true })).toEqual({
      kind: "data",
      data: { path: "a/b.txt", created: false, size_bytes: 8 },
    });
    expect(readFileSync(join(place.root, "a/b.txt"), "latin1")).toBe("\xef\xbb\xbfx\r\n\xff\0");
    expect(await run(writeFile, { path: "a/b.txt", content: "", create_only: true })).toMatchObject({
      code: "FILE_EXISTS",
    });
  });

  test("what the schema does not describe is refused", () => {
    const accepts = (value: object) => writeFile.parameters.safeParse({ path: "f", content: "", ...value }).success;
    expect([accepts({}), accepts({ path: "é".repeat(MAX_PATH_LEN) })]).toEqual([true, true]);
    expect([
      accepts({ path: "" }),
      accepts({ path: "é".repeat(MAX_PATH_LEN + 1) }),
      accepts({ content: 7 }),
      accepts({ content: "\udc00" }),
      accepts({ create_only: true, append: true }),
      accepts({ mode: 0o777 }),
    ]).toEqual(Array(6).fill(false));
  });
});

describe("list_files", () => {
  test("a tree comes in order of code points, each directory before what is in it", async () => {
    mkdirSync(join(place.root, "a/b"), { recursive: true });
    mkdirSync(join(place.root, ".git"));
    mkdirSync(join(place.root, "node_modules"));
    mkdirSync(join(place.root, "secrets"));
    for (const name of [
      "a/b/c.txt",
      "a.txt",
      "ä",
      "\u{1f600}",
      "\uff5e",
      ".git/config",
      "node_modules/m.js",
      "secrets/key",
      ".env",
      ".env.example",
    ])
      put(name, "12");
    symlinkSync("/etc", join(place.root, "link"));
    const whole = (await run(listFiles, { path: ".", recursive: true })) as { data: { entries: { path: string }[] } };
    expect(whole.data.entries.map((entry) => entry.path)).toEqual([
      ".env.example",
      ".git",
      "a",
      "a/b",
      "a/b/c.txt",
      "a.txt",
      "contracts",
      "link",
      "node_modules",
      "ä",
      "\uff5e",
      "\u{1f600}",
    ]);
    expect(await run(listFiles, { path: "a", recursive: true, max_depth: 1 })).toEqual({
      kind: "data",
      data: { path: "a", entries: [{ path: "b", kind: "directory" }], truncated: false },
    });
    expect(await run(listFiles, { path: ".", max_entries: 3 })).toEqual({
      kind: "data",
      truncated: true,
      data: {
        path: ".",
        entries: [
          { path: ".env.example", kind: "file", size_bytes: 2 },
          { path: ".git", kind: "directory" },
          { path: "a", kind: "directory" },
        ],
        truncated: true,
        next: { after: "a" },
      },
    });
  });

  test("a name that is not UTF-8 is shown escaped, and only the first of many names are kept", async () => {
    mkdirSync(join(place.root, "many"));
    for (let index = 0; index < 1000; index += 1) put(`many/${String(999 - index).padStart(3, "0")}`, "");
    const first = (await run(listFiles, { path: "many", max_entries: 2 })) as { data: object };
    expect(first.data).toMatchObject({ truncated: true, entries: [{ path: "000" }, { path: "001" }] });
    mkdirSync(join(place.root, "odd"));
    writeFileSync(Buffer.concat([Buffer.from(join(place.root, "odd/x")), Buffer.from([0xff])]), "");
    expect(await run(listFiles, { path: "odd" })).toMatchObject({
      data: { entries: [{ path: "x\\xff", kind: "file", size_bytes: 0, escaped: true }] },
    });
  });
});
