/** Brio's read-file tool: a text file of at most 10 MB as a whole, or the part of it that is asked for. */
import { read } from "handrail:tool/files@0.1.0";

const FILE_BYTES_MAX = 10_485_760;
/** Arguments of one call of `String.fromCharCode`. */
const CHUNK = 8_192;

export function name() {
  return "brio_read_file";
}

export function description() {
  return "Reads a text file of the workspace, of at most 10 MB, or of at most `max_bytes`.";
}

export function inputSchema() {
  return JSON.stringify({
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, description: "Path of a file in the workspace." },
      max_bytes: { type: "integer", minimum: 1, maximum: FILE_BYTES_MAX },
    },
    required: ["path"],
    additionalProperties: false,
  });
}

export function execute(args) {
  const { path, max_bytes = FILE_BYTES_MAX } = JSON.parse(args);
  const problem = problemOfPath(path);
  if (problem !== undefined) throw problem;
  const bytes = bytesOf(path);
  if (bytes.length > max_bytes)
    // biome-ignore lint/style/useThrowOnlyError: what is thrown is the error of the WIT result
    throw `the file has ${bytes.length} bytes, more than ${max_bytes}; look for what you need with brio_grep`;
  // biome-ignore lint/style/useThrowOnlyError: what is thrown is the error of the WIT result
  if (bytes.includes(0)) throw "the file has null bytes and is no text; read another one";
  return textOf(bytes);
}

function problemOfPath(path) {
  if (path.includes("\0")) return "the path has a null byte; give a plain path";
  if (/^[/\\]/.test(path)) return "the path is absolute; give one below the workspace";
  if (path.split(/[/\\]/).includes("..")) return "the path leads upwards; give one below the workspace";
  return undefined;
}

/** The file, or its failure as the error of the WIT result. */
function bytesOf(path) {
  try {
    return read(path);
  } catch (error) {
    throw String(error?.payload ?? error?.message ?? error);
  }
}

/** UTF-8 as text, in pieces that end between two characters. */
function textOf(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    let end = Math.min(at + CHUNK, bytes.length);
    for (let back = 0; back < 3 && end < bytes.length && (bytes[end] & 0xc0) === 0x80; back += 1) end -= 1;
    try {
      text += decodeURIComponent(escape(String.fromCharCode(...bytes.subarray(at, end))));
    } catch {
      // biome-ignore lint/style/useThrowOnlyError: what is thrown is the error of the WIT result
      throw "the file is no UTF-8 text; read another one";
    }
    at = end;
  }
  return text;
}
