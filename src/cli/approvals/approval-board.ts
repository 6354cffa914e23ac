/**
 * Lists what a person sees of pending approvals and what their keys do.
 *
 * Pure: a state and an event give the next state and perhaps an effect.
 *
 * INVARIANTS: Nothing is decided but what is shown in full on the screen: from the list a key only opens a request, and
 * a request with more below takes a second press. The selection stays with its request by reference, whatever comes or
 * goes. Text that is pasted, or that came in one piece, decides nothing.
 */
import type { PromptLine } from "../../model/approval/prompt-lines.ts";
import { promptRows } from "../../model/approval/prompt-rows.ts";
import type { Key } from "../terminal/keys.ts";
import { type Approval, approvalLines, isReadable } from "./approval-view.ts";

/** Rows of the screen that are not for the request: title, keys, message. */
export const FRAME_ROWS = 4;
/** Characters of a reason or a time that is typed. */
const ENTRY_CHARACTERS_MAX = 200;

/** What fills the screen. */
export type View =
  | { readonly kind: "list" }
  | {
      readonly kind: "request" | "always";
      readonly approval: Approval;
      readonly lines: readonly PromptLine[];
      /** First row that is shown. */
      readonly top: number;
      /** Rows that have been on the screen, from the first. */
      readonly seen: number;
      /** The key that was pressed before everything had been seen. */
      readonly pressed?: Key;
      /** Of a proposal: whether it can be written. */
      readonly canWrite?: boolean;
      /** What is being typed. */
      readonly entry?: { readonly what: "reason" | "time" | "project"; readonly text: string };
    };

/** The state. `approvals` wait, the oldest first. */
export interface Board {
  readonly approvals: readonly Approval[];
  readonly selected?: string;
  readonly view: View;
  readonly message: string;
  readonly size: Size;
}

/** What a screen has room for. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What happens. */
export type BoardEvent =
  | { readonly kind: "keys"; readonly keys: readonly Key[]; readonly nowMs: number }
  | { readonly kind: "approvals"; readonly approvals: readonly Approval[] }
  | { readonly kind: "size"; readonly size: Size }
  /** `overRef`: a request about which nothing more is to be decided here. */
  | { readonly kind: "outcome"; readonly message: string; readonly overRef?: string }
  | {
      readonly kind: "proposal";
      readonly ref: string;
      readonly lines: readonly PromptLine[];
      readonly canWrite: boolean;
    };

/** What is to be done. Times are as typed. */
export type BoardEffect =
  | { readonly kind: "approve"; readonly ref: string; readonly scope: string }
  | { readonly kind: "deny"; readonly ref: string; readonly reason: string }
  | { readonly kind: "propose"; readonly ref: string }
  | { readonly kind: "write"; readonly ref: string }
  | { readonly kind: "quit" };

/** A state, and what is to be done for it. */
export interface Step {
  readonly board: Board;
  readonly effect?: BoardEffect;
}

/** The state before anything has happened. */
export function emptyBoard(size: Size): Board {
  return { approvals: [], view: { kind: "list" }, message: "", size };
}

/** What comes of an event. */
export function step(board: Board, event: BoardEvent): Step {
  switch (event.kind) {
    case "keys":
      return pressAll(board, event.keys, event.nowMs);
    case "approvals":
      return { board: withApprovals(board, event.approvals) };
    case "size":
      return { board: resized(board, event.size) };
    case "outcome":
      return { board: withOutcome({ ...board, message: event.message }, event.overRef) };
    case "proposal":
      return { board: withProposal(board, event) };
  }
}

/** Rows of the view's text, all of them. */
export function viewRows({ view, size }: Board): readonly ReturnType<typeof promptRows>[number][] {
  return view.kind === "list" ? [] : promptRows(view.lines, size.columns);
}

/** Rows of text that fit the screen. */
export function roomOf({ size }: Pick<Board, "size">): number {
  return Math.max(1, size.rows - FRAME_ROWS);
}

function pressAll(board: Board, keys: readonly Key[], nowMs: number): Step {
  let current = board;
  for (const key of keys) {
    const isPasted = keys.length > 1 && (isTyping(current) ? key === "enter" : !MOVES.has(key));
    if (isPasted) continue;
    const next = press({ ...current, message: "" }, key, nowMs);
    if (next.effect !== undefined) return next;
    current = next.board;
  }
  return { board: current };
}

const MOVES: ReadonlySet<Key> = new Set(["up", "down", "j", "k", "page up", "page down", " ", "home", "end", "g", "G"]);

function isTyping({ view }: Board): boolean {
  return view.kind === "request" && view.entry !== undefined;
}

function press(board: Board, key: Key, nowMs: number): Step {
  if (key === "interrupt") return { board, effect: { kind: "quit" } };
  if (board.view.kind === "list") return pressInList(board, key, nowMs);
  if (isTyping(board)) return type(board, key);
  const moved = move(board, key);
  if (moved !== undefined) return { board: moved };
  if (key === "escape" || key === "q") return { board: { ...board, view: { kind: "list" } } };
  return board.view.kind === "always" ? pressInProposal(board, key) : pressInRequest(board, key);
}

function pressInList(board: Board, key: Key, nowMs: number): Step {
  const { approvals, selected } = board;
  const at = approvals.findIndex(({ ref }) => ref === selected);
  const select = (index: number) => {
    const next = approvals[Math.min(Math.max(0, index), approvals.length - 1)];
    return { board: next === undefined ? board : { ...board, selected: next.ref } };
  };
  switch (key) {
    case "q":
    case "escape":
      return { board, effect: { kind: "quit" } };
    case "up":
    case "k":
      return select(at - 1);
    case "down":
    case "j":
      return select(at + 1);
    case "enter": {
      const approval = approvals[at];
      return { board: approval === undefined ? board : opened(board, approval, nowMs) };
    }
    default:
      return DECIDES.has(key) ? { board: { ...board, message: "press enter first, to see what is asked" } } : { board };
  }
}

const DECIDES: ReadonlySet<Key> = new Set(["a", "s", "t", "l", "p", "d", "w"]);

function opened(board: Board, approval: Approval, nowMs: number): Board {
  const view: View = { kind: "request", approval, lines: approvalLines(approval, nowMs), top: 0, seen: 0 };
  return scrolled({ ...board, view }, 0);
}

/** The view moved by a key; `undefined` for a key that does not move. */
function move(board: Board, key: Key): Board | undefined {
  const page = roomOf(board) - 1;
  switch (key) {
    case "up":
    case "k":
      return scrolled(board, -1);
    case "down":
    case "j":
      return scrolled(board, 1);
    case "page up":
      return scrolled(board, -page);
    case "page down":
    case " ":
      return scrolled(board, page);
    case "home":
    case "g":
      return scrolled(board, Number.NEGATIVE_INFINITY);
    case "end":
    case "G":
      return scrolled(board, Number.POSITIVE_INFINITY);
    default:
      return undefined;
  }
}

/** The view `by` rows further down. What was jumped over has not been seen. */
function scrolled(board: Board, by: number): Board {
  const { view } = board;
  if (view.kind === "list") return board;
  const room = roomOf(board);
  const last = Math.max(0, viewRows(board).length - room);
  const top = Math.min(last, Math.max(0, view.top + by));
  const seen = top <= view.seen ? Math.max(view.seen, top + room) : view.seen;
  const { pressed: _, ...rest } = view;
  return { ...board, view: { ...rest, top, seen } };
}

/** Rows are others on a screen of another width: what was seen is counted anew. */
function resized(board: Board, size: Size): Board {
  const { view } = board;
  const isSame = size.columns === board.size.columns;
  return scrolled({ ...board, size, view: view.kind === "list" || isSame ? view : { ...view, top: 0, seen: 0 } }, 0);
}

function pressInRequest(board: Board, key: Key): Step {
  const { view } = board;
  if (view.kind !== "request" || !DECIDES.has(key)) return { board };
  const { ref, state } = view.approval;
  if (state !== "pending") return { board: { ...board, message: `nothing to decide: the request is ${state}` } };
  if (key === "d") return { board: { ...board, view: { ...view, entry: { what: "reason", text: "" } } } };
  if (!isReadable(view.approval))
    return { board: { ...board, message: "the request cannot be read, so it can only be denied" } };
  if (key === "w")
    return { board: { ...board, message: "looking for the narrowest permit …" }, effect: { kind: "propose", ref } };
  if (OF_KIND.has(key) && view.approval.kind === "")
    return {
      board: { ...board, message: "this call is of no kind that can be answered for; a, s and t approve it alone" },
    };
  const unseen = askingAgain(board, view, key);
  if (unseen) return unseen;
  if (key === "t") return { board: { ...board, view: { ...view, entry: { what: "time", text: "" } } } };
  if (key === "p") return { board: { ...board, view: { ...view, entry: { what: "project", text: "" } } } };
  return { board, effect: { kind: "approve", ref, scope: SCOPES[key] ?? "once" } };
}

/** Keys that approve more than the call that is shown. */
const OF_KIND: ReadonlySet<Key> = new Set(["l", "p"]);
const SCOPES: Readonly<Record<Key, string>> = { a: "once", s: "session", l: "kind" };

/** The first press of a key while there are rows that have not been seen; `undefined` when it decides. */
function askingAgain(board: Board, view: Exclude<View, { kind: "list" }>, key: Key): Step | undefined {
  const below = viewRows(board).length - view.seen;
  if (below <= 0 || view.pressed === key) return undefined;
  const message = `${below} rows below have not been on the screen; \`${key}\` again decides without them`;
  return { board: { ...board, view: { ...view, pressed: key }, message } };
}

function pressInProposal(board: Board, key: Key): Step {
  const { view } = board;
  if (view.kind !== "always" || key !== "y") return { board };
  if (view.canWrite !== true) return { board: { ...board, message: "there is nothing to write" } };
  const unseen = askingAgain(board, view, key);
  return unseen ?? { board, effect: { kind: "write", ref: view.approval.ref } };
}

function type(board: Board, key: Key): Step {
  const { view } = board;
  if (view.kind !== "request" || view.entry === undefined) return { board };
  const { entry, ...request } = view;
  const { ref } = view.approval;
  switch (key) {
    case "escape":
      return { board: { ...board, view: request } };
    case "enter":
      return {
        board: { ...board, view: request },
        effect:
          entry.what === "reason"
            ? { kind: "deny", ref, reason: entry.text }
            : { kind: "approve", ref, scope: entry.what === "time" ? entry.text : `project:${entry.text}` },
      };
    case "backspace":
      return {
        board: { ...board, view: { ...view, entry: { ...entry, text: [...entry.text].slice(0, -1).join("") } } },
      };
    default: {
      const text = [...key].length === 1 ? entry.text + key : entry.text;
      return {
        board: {
          ...board,
          view: { ...view, entry: { ...entry, text: text.slice(0, ENTRY_CHARACTERS_MAX).toWellFormed() } },
        },
      };
    }
  }
}

function withApprovals(board: Board, approvals: readonly Approval[]): Board {
  const waiting = approvals
    .filter(({ state }) => state === "pending")
    .sort((left, right) => left.createdAtMs - right.createdAtMs);
  const before = board.approvals.findIndex(({ ref }) => ref === board.selected);
  const selected =
    waiting.find(({ ref }) => ref === board.selected) ?? waiting[Math.min(Math.max(0, before), waiting.length - 1)];
  const { selected: _, ...rest } = board;
  const next = { ...rest, approvals: waiting, ...(selected && { selected: selected.ref }) };
  return { ...next, view: withNews(board.view, approvals) };
}

function withOutcome(board: Board, overRef: string | undefined): Board {
  if (overRef === undefined) return board;
  const left = withApprovals(
    board,
    board.approvals.filter(({ ref }) => ref !== overRef),
  );
  return left.view.kind !== "list" && left.view.approval.ref === overRef ? { ...left, view: { kind: "list" } } : left;
}

/** A request that is on the screen stays there, as it stands now. */
function withNews(view: View, approvals: readonly Approval[]): View {
  if (view.kind === "list") return view;
  const now = approvals.find(({ ref }) => ref === view.approval.ref);
  return now === undefined || now.state === view.approval.state ? view : { ...view, approval: now };
}

function withProposal(board: Board, { ref, lines, canWrite }: Extract<BoardEvent, { kind: "proposal" }>): Board {
  const { view } = board;
  if (view.kind !== "request" || view.approval.ref !== ref) return board;
  return scrolled(
    { ...board, message: "", view: { kind: "always", approval: view.approval, lines, top: 0, seen: 0, canWrite } },
    0,
  );
}
