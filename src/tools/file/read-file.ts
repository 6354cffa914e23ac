/**
 * `read_file`: text or bytes of one file, whole, by lines or in ranges of bytes.
 *
 * Decides: what counts as text, and where a range of text begins and ends. INVARIANT: no character is ever split or
 * altered; text that is not UTF-8 is refused and never repaired.
 */
import { z } from "zod";
import { KIB, textOf } from "../../base/bytes.ts";
import type { JsonObject } from "../../base/json.ts";
import { INLINE_RESULT_BYTES_MAX, MAX_READ_LIMIT, REDACTION_MARGIN_CHARACTERS } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { FileContent, ReadOptions } from "../../model/place/files.ts";
import type { Excerpt, Tool, ToolContext, ToolOutput, Window } from "../../model/tool/tool.ts";
import { characterBoundary } from "../../text/characters.ts";
import { numberedLines } from "../../text/numbered-lines.ts";
import { numberArgument, pathArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { integer, objectOf, text } from "../kit/result-schema.ts";
import { findLines } from "./line-window.ts";

/** Bytes that are read where the caller does not say: 100 KB of 1,024 bytes each (Flow §3.1). */
export const READ_BYTES_DEFAULT = 100 * KIB;

const parameters = z
  .strictObject({
    path: pathArgument("File to read, relative to the workspace root."),
    start_line: numberArgument("First line to read, counted from 1. Lines come with their numbers.", 1),
    end_line: numberArgument("Last line to read, included. Default: as many as fit `max_bytes`.", 1),
    offset: numberArgument("First byte to read. Default 0. A character belongs to the range in which it begins.", 0),
    limit: numberArgument(
      "Bytes to read from `offset` on; 0 or absent reads to the end, which fails when that is more than `max_bytes`.",
      0,
      MAX_READ_LIMIT,
    ),
    max_bytes: numberArgument(`Most bytes to return. Default ${READ_BYTES_DEFAULT}.`, 1, INLINE_RESULT_BYTES_MAX),
    encoding: z.enum(["utf-8", "base64"]).optional().meta({
      description: "`utf-8` (default) returns text and refuses binary files; `base64` returns any file's bytes.",
    }),
  })
  .superRefine((args, found) => {
    if (!isByLines(args)) return;
    const refuse = (path: string, rule: string, message: string): void =>
      found.addIssue({ code: "custom", path: [path], params: { rule }, message });
    const { start_line: first = 1, end_line: last = first } = args;
    if (last < first) refuse("end_line", "min", `is before \`start_line\` (${first}); give a line from ${first} on`);
    for (const name of ["offset", "limit"] as const)
      if (args[name] !== undefined)
        refuse(name, "mutually_exclusive", "counts bytes; leave it out where you read by lines");
    if (args.encoding === "base64")
      refuse(
        "encoding",
        "mutually_exclusive",
        "shows bytes, which have no lines; read by `offset` and `limit` instead",
      );
  });

type Arguments = z.infer<typeof parameters>;

/** The tool `read_file`. */
export const readFile: Tool<Arguments> = {
  name: "read_file",
  title: "Read a file",
  description:
    "Reads a file of the workspace as UTF-8 text (or base64), whole as it is, or a part of it: by lines with `start_line` and `end_line`, " +
    "each with its number and a tab before it, or by bytes with `offset` and `limit`. The answer says where the next part begins.",
  parameters,
  outputSchema: objectOf(
    {
      path: text(),
      encoding: { enum: ["utf-8", "base64"] },
      content: text(),
      start_line: integer("Of lines: the first that was returned; `content` has number and tab before each."),
      end_line: integer("Of lines: the last that was returned."),
      next_line: integer("Of lines: where the next begin; absent at the end of the file."),
      lines: integer("Of lines: how many the file has, where that is known."),
      offset: integer("First byte that was returned; moved to the next character when it fell inside one."),
      bytes: integer("Bytes that were returned, before any redaction."),
      size_bytes: integer("Size of the whole file."),
      next_offset: integer("Where the next range begins; absent at the end of the file."),
    },
    ["start_line", "end_line", "next_line", "lines", "next_offset"],
  ),
  capability: { ...READS, sizesResult: true },
  analyse: (args) => [{ resource: { kind: "file", path: args.path }, effect: "read" }],
  execute(args, context) {
    if (context.reply === "bytes") return rawBytes(args, context);
    if (isByLines(args)) return lines(args, context);
    const range = rangeOf(args);
    const content = context.files.read(args.path, range.read);
    return content instanceof Promise
      ? content.then((loaded) => result(args, range, loaded))
      : result(args, range, content);
  },
  toText(data) {
    const { content } = data;
    const note = rangeNote(data);
    return [...(content === "" ? [] : [String(content)]), ...(note === undefined ? [] : [note])];
  },
};

/** What part of the file was read; nothing where that is all of it. */
function rangeNote(data: JsonObject): string | undefined {
  const { offset, bytes, size_bytes: size, next_offset: nextOffset } = data;
  const { start_line: first, end_line: last, next_line: nextLine, lines: total } = data;
  if (size === 0) return "[the file is empty]";
  if (first !== undefined) {
    const of = total === undefined ? "" : ` of ${String(total)}`;
    if (bytes === 0) return `[the file has ${String(total)} lines]`;
    const next = nextLine === undefined ? "" : `; next: start_line ${String(nextLine)}`;
    return `[lines ${String(first)}-${String(last)}${of}, from byte ${String(offset)} on${next}]`;
  }
  if (offset === 0 && nextOffset === undefined) return undefined;
  const next = nextOffset === undefined ? "" : `; next: offset ${String(nextOffset)}`;
  return `[${String(bytes)} bytes from byte ${String(offset)} on, of ${String(size)}${next}]`;
}

function isByLines(args: {
  readonly start_line?: number | undefined;
  readonly end_line?: number | undefined;
}): boolean {
  return args.start_line !== undefined || args.end_line !== undefined;
}

/** Lines with their numbers: a secret is looked for in the text without them, and in what stands around the lines. */
async function lines(args: Arguments, context: ToolContext): Promise<ToolOutput> {
  const first = args.start_line ?? 1;
  const file = context.files.stream(args.path, { bytesMax: MAX_READ_LIMIT });
  const wanted = {
    first,
    last: args.end_line ?? Number.POSITIVE_INFINITY,
    bytesMax: args.max_bytes ?? READ_BYTES_DEFAULT,
  };
  const { bytes, start, end, ...found } = await findLines(file, wanted);
  const text = textOrFail(args.path, bytes.subarray(start, end));
  const content = numberedLines(text, first);
  return {
    kind: "data",
    data: {
      path: args.path,
      encoding: "utf-8",
      content,
      start_line: first,
      end_line: found.last,
      offset: found.offset + start,
      bytes: end - start,
      size_bytes: file.sizeBytes,
      ...(found.hasMore && { next_line: found.last + 1 }),
      ...(found.total !== undefined && { lines: found.total }),
    },
    excerpts: { content: { ...textExcerpt({ bytes, start, end }, text), firstLine: first } },
    ...(found.isCut && { truncated: true }),
  };
}

interface Range {
  /** First byte that was asked for, and how many; `length` absent means to the end. */
  readonly offset: number;
  readonly length?: number;
  /** The range was cut to `max_bytes`. */
  readonly cut: boolean;
  readonly read: ReadOptions;
}

function rangeOf(args: Arguments): Range {
  const offset = args.offset ?? 0;
  const bytesMax = args.max_bytes ?? READ_BYTES_DEFAULT;
  const margin = REDACTION_MARGIN_CHARACTERS;
  // Text is made of the bytes at once; of others the excerpt keeps what stands around it.
  const lent = args.encoding === "base64" ? {} : ({ lent: true } as const);
  if (args.limit === undefined || args.limit === 0)
    return { offset, cut: false, read: { offset, bytesMax, margin, ...lent } };
  const length = Math.min(args.limit, bytesMax);
  return { offset, length, cut: length < args.limit, read: { offset, limit: length, bytesMax, margin, ...lent } };
}

/** What was read reaches beyond the range, so that characters at both ends are seen whole, and secrets too. */
function result(args: Arguments, range: Range, { bytes, offset, sizeBytes }: FileContent): ToolOutput {
  const encoding = args.encoding ?? "utf-8";
  const asked = Math.min(range.offset - offset, bytes.byteLength);
  const wanted = range.length === undefined ? bytes.byteLength : Math.min(asked + range.length, bytes.byteLength);
  const start = encoding === "base64" ? asked : characterBoundary(bytes, asked);
  const end = encoding === "base64" ? wanted : characterBoundary(bytes, wanted);
  const part = bytes.subarray(start, end);
  const content = encoding === "base64" ? Buffer.from(part).toString("base64") : textOrFail(args.path, part);
  const next = offset + end;
  const more = range.length !== undefined && next < sizeBytes;
  const isWhole = encoding === "utf-8" && part.byteLength === bytes.byteLength;
  return {
    kind: "data",
    data: {
      path: args.path,
      encoding,
      content,
      offset: offset + start,
      bytes: part.byteLength,
      size_bytes: sizeBytes,
      ...(more && { next_offset: next }),
    },
    ...(!isWhole && { excerpts: { content: excerptOf({ bytes, start, end }, encoding, content) } }),
    ...(more && range.cut && { truncated: true }),
  };
}

/** A part of what was read. */
interface Part {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** What a part was cut out of. What stands around text may be anything, also half a character. */
function excerptOf({ bytes, start, end }: Part, encoding: Arguments["encoding"], text: string): Excerpt {
  if (encoding === "base64") return { kind: "base64", bytes, start, end };
  return textExcerpt({ bytes, start, end }, text);
}

function textExcerpt({ bytes, start, end }: Part, text: string): Extract<Excerpt, { kind: "text" }> {
  const before = start === 0 ? "" : lossyUtf8.decode(bytes.subarray(0, start));
  const after = end === bytes.byteLength ? "" : lossyUtf8.decode(bytes.subarray(end));
  return { kind: "text", text: before + text + after, start: before.length, end: before.length + text.length };
}

const lossyUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });

function textOrFail(path: string, bytes: Uint8Array): string {
  const next = 'read it with `encoding: "base64"`';
  if (bytes.includes(0)) throw new ToolFailure("BINARY_FILE", `\`${path}\` is not text: it holds null bytes`, next);
  const text = textOf(bytes);
  if (text === undefined) throw new ToolFailure("INVALID_UTF8", `\`${path}\` is not valid UTF-8`, next);
  return text;
}

/** The bytes as they are, for a caller that takes bytes; more than an answer carries come as a stream (CTR-0024). */
function rawBytes(args: Arguments, context: ToolContext): ToolOutput | Promise<ToolOutput> {
  const limit = args.limit === 0 ? undefined : args.limit;
  const offset = args.offset ?? 0;
  const options = { offset, ...(limit !== undefined && { limit }), margin: REDACTION_MARGIN_CHARACTERS };
  const windowIn = (read: { readonly offset: number; readonly sizeBytes: number }): { readonly window?: Window } => {
    if (offset === 0 && (limit ?? read.sizeBytes) >= read.sizeBytes) return {};
    const length = Math.min(limit ?? Number.POSITIVE_INFINITY, Math.max(0, read.sizeBytes - offset));
    return { window: { start: offset - read.offset, end: offset - read.offset + length } };
  };
  const whole = (content: FileContent): ToolOutput => ({ kind: "bytes", bytes: content.bytes, ...windowIn(content) });
  const streamed = (error: unknown): ToolOutput => {
    if (!(error instanceof ToolFailure) || error.code !== "FILE_TOO_LARGE") throw error;
    const stream = context.files.stream(args.path, { ...options, bytesMax: MAX_READ_LIMIT });
    return { kind: "stream", chunks: stream.chunks, ...windowIn(stream) };
  };
  try {
    const content = context.files.read(args.path, { ...options, bytesMax: INLINE_RESULT_BYTES_MAX });
    return content instanceof Promise ? content.then(whole, streamed) : whole(content);
  } catch (error) {
    return streamed(error);
  }
}
