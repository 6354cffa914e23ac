/**
 * The board of requests as the rows of a screen. Pure.
 *
 * INVARIANT: there are exactly as many rows as the screen has, none wider than it.
 */

import { shortRef } from "../../model/approval/prompt-lines.ts";
import { ansi, type PromptRow, promptRows } from "../../model/approval/prompt-rows.ts";
import { visibleLine } from "../../text/foreign-text.ts";
import { type Board, roomOf, viewRows } from "./approval-board.ts";
import { durationOf, standingOf, summaryOf } from "./approval-view.ts";

const KEYS = {
  list: "enter look   j k move   q quit",
  request: "a once   s session   t time   l its kind, session   p its kind, project   d deny   w always   q back",
  always: "y write the permit   space page   q back",
} as const;

/** The rows of the screen. */
export function screenRows(board: Board, nowMs: number, colours: boolean): readonly string[] {
  const { view } = board;
  const { columns, rows } = board.size;
  const room = roomOf(board);
  const body =
    view.kind === "list"
      ? listRows(board, nowMs, room)
      : viewRows(board)
          .slice(view.top, view.top + room)
          .map((row) => shown(row, colours));
  const filled = [
    title(board, nowMs),
    ...body,
    ...Array<string>(Math.max(0, room - body.length)).fill(""),
    position(board),
    ...entryRow(board),
    KEYS[view.kind],
  ];
  return filled.map((row, index) => (index > 0 && index <= room ? row : clipped(row, columns))).slice(0, rows);
}

function shown(row: PromptRow, colours: boolean): string {
  return colours ? ansi(row) : row.text;
}

function title({ approvals, view }: Board, nowMs: number): string {
  const waiting = `${approvals.length} waiting`;
  if (view.kind === "list") return `handrail approvals: ${waiting}`;
  const { approval } = view;
  return `${shortRef(approval.ref)} ${view.kind === "always" ? "always allow" : standingOf(approval, nowMs)}   (${waiting})`;
}

function listRows({ approvals, selected, size }: Board, nowMs: number, room: number): readonly string[] {
  if (approvals.length === 0) return ["", "  nothing waits for an answer"];
  const at = approvals.findIndex(({ ref }) => ref === selected);
  const from = Math.min(Math.max(0, at - room + 1), Math.max(0, approvals.length - room));
  return approvals.slice(from, from + room).map((approval) => {
    const sign = approval.ref === selected ? ">" : " ";
    const age = durationOf(nowMs - approval.createdAtMs).padStart(4);
    return clipped(
      `${sign} ${shortRef(approval.ref)} ${age}  ${visibleLine(approval.userId)}  ${summaryOf(approval)}`,
      size.columns,
    );
  });
}

function position(board: Board): string {
  const { view } = board;
  if (view.kind === "list") return "";
  const all = viewRows(board).length;
  const end = Math.min(all, view.top + roomOf(board));
  return end >= all ? "-- end --" : `-- ${all - end} more rows --`;
}

const ENTRIES = {
  reason: "reason to deny, for the record",
  time: "approve for how long, such as 15m",
  project: "approve its kind in this workspace for how long, such as 30d",
} as const;

/** The row for messages, or for what is being typed. */
function entryRow({ view, message }: Board): readonly string[] {
  if (view.kind === "request" && view.entry !== undefined) {
    const { what, text } = view.entry;
    return [`${ENTRIES[what]} (enter, or escape): ${visibleLine(text)}`];
  }
  return [visibleLine(message)];
}

/** The row, cut at the edge of the screen. */
function clipped(text: string, columns: number): string {
  return promptRows([{ by: "kernel", kind: "title", text }], columns)[0]?.text ?? "";
}
