/** Reads the rows of `history.db`. A row that cannot be read is damage, never guessed at. */
import { storeCorrupt } from "../../../base/errors.ts";
import { isJsonObject } from "../../../base/json.ts";
import { parseJson } from "../../../base/json-parse.ts";
import type { PastChange, PastEntry } from "../../../cas/history-store.ts";
import { type FileState, UNKEPT_REASONS } from "../../../model/work/file-history.ts";

/** A row of `entries`. */
export interface EntryRow {
  readonly number: number;
  readonly call_id: string;
  readonly session_id: string;
  readonly actor: string;
  readonly role: string;
  readonly tool: string;
  readonly root: string;
  readonly at_ms: number;
  readonly made: number;
  readonly cut: number;
}

/** A row of `changes`. */
export interface ChangeRow {
  readonly change: number;
  readonly entry: number;
  readonly file: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly unkept: string | null;
}

/** The entry of a row. */
export function entryOf(row: EntryRow): PastEntry {
  return {
    number: row.number,
    callId: row.call_id,
    sessionId: row.session_id,
    actor: row.actor,
    role: row.role,
    tool: row.tool,
    root: row.root,
    atMs: row.at_ms,
    isCut: row.cut === 1,
  };
}

/** The change of a row, its path relative to the root of its entry. */
export function changeOf(row: ChangeRow, { root, made }: Pick<EntryRow, "root" | "made">): PastChange {
  const inside = root === "/" ? root : `${root}/`;
  if (!row.file.startsWith(inside)) throw damaged();
  const unkept = UNKEPT_REASONS.find((reason) => reason === row.unkept);
  if (row.unkept !== null && unkept === undefined) throw damaged();
  return {
    number: row.change,
    isMade: made === 1,
    path: row.file.slice(inside.length),
    ...(row.before !== null && { before: stateOf(row.before) }),
    ...(row.after !== null && { after: stateOf(row.after) }),
    ...(unkept !== undefined && { unkept }),
  };
}

function stateOf(text: string): FileState {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw damaged();
  const { kind, mode, content, bytes } = parsed.value;
  const isKind = kind === "file" || kind === "link" || kind === "directory";
  if (!isKind || typeof mode !== "number" || !Number.isInteger(mode)) throw damaged();
  if (content !== undefined && typeof content !== "string") throw damaged();
  if (bytes !== undefined && typeof bytes !== "number") throw damaged();
  return { kind, mode, ...(content !== undefined && { content }), ...(bytes !== undefined && { bytes }) };
}

function damaged(): Error {
  return storeCorrupt("`history.db` in the state directory has a row that cannot be read; restore a backup");
}
