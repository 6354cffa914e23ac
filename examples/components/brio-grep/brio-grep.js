/** Brio's grep tool: the lines of a file that contain a text; no regular expressions. */
import { read } from "handrail:tool/files@0.1.0";

const PATTERN_CHARACTERS_MAX = 1_000;
const MATCHES_MAX = 1_000;
const LINE_CHARACTERS_MAX = 500;
/** Arguments of one call of `String.fromCharCode`. */
const CHUNK = 8_192;

export function name() {
  return "brio_grep";
}

export function description() {
  return "Finds the lines of a file that contain a text, with their numbers. The text is no regular expression.";
}

export function inputSchema() {
  return JSON.stringify({
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, description: "Path of a file in the workspace." },
      pattern: { type: "string", minLength: 1, maxLength: PATTERN_CHARACTERS_MAX },
    },
    required: ["path", "pattern"],
    additionalProperties: false,
  });
}

export function execute(args) {
  const { path, pattern } = JSON.parse(args);
  const problem = problemOfPath(path);
  if (problem !== undefined) throw problem;
  // as bytes, so that only the lines that match are decoded
  const wanted = unescape(encodeURIComponent(pattern));
  const text = bytesAsText(bytesOf(path));
  const found = [];
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(wanted); at !== -1; ) {
    line += linesIn(text, counted, at);
    counted = at;
    const start = text.lastIndexOf("\n", at) + 1;
    const next = text.indexOf("\n", at);
    const end = next === -1 ? text.length : next;
    found.push(`${line}: ${shown(text.slice(start, end))}`);
    if (found.length === MATCHES_MAX) {
      found.push(`only the first ${MATCHES_MAX} lines are shown; look for a longer text`);
      break;
    }
    at = text.indexOf(wanted, end);
  }
  return found.length === 0 ? "no line contains it" : found.join("\n");
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

/** Each byte as the character of its number. */
function bytesAsText(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return text;
}

function linesIn(text, from, to) {
  let lines = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** A line as text, without its carriage return; what is no UTF-8 stays as bytes. */
function shown(line) {
  const cut = line.replace(/\r$/, "").slice(0, LINE_CHARACTERS_MAX);
  try {
    return decodeURIComponent(escape(cut));
  } catch {
    return cut.replace(/[^\x20-\x7e\t]/g, "\uFFFD");
  }
}
