// The board of requests: what keys do, what they do not, and what is on the screen.
import { describe, expect, test } from "vitest";
import { blake3Hex } from "../../../src/base/hash.ts";
import { type Board, type BoardEffect, emptyBoard, step } from "../../../src/cli/approvals/approval-board.ts";
import { screenRows } from "../../../src/cli/approvals/approval-screen.ts";
import type { Approval } from "../../../src/cli/approvals/approval-view.ts";
import { type Key, keysIn } from "../../../src/cli/terminal/keys.ts";

const NOW_MS = 1_000_000;

function approval(name: string, more: Partial<Approval> = {}, diffLines = 1): Approval {
  const diff = `--- a/f\n+++ b/f\n@@ -0,0 +1,${diffLines} @@\n${"+line\n".repeat(diffLines)}`;
  const document = JSON.stringify({
    id: "write_file:execute",
    tool: "write_file",
    action: "execute",
    summary: `\`${name}\`: write 1 protected file`,
    risks: [],
    details: {
      kind: "execute",
      rules: [{ ruleId: "dev.write-protected" }],
      userId: "bob",
      agentId: "helper",
      role: "dev",
      sessionId: "ses_1",
      workspace: "/w",
      workDir: "/w",
      seen: { trustLevel: "user", dataClass: "internal" },
      accesses: [],
      changes: [{ path: "f", kind: "create", diff, linesOmitted: 0 }],
      arguments: {},
    },
  });
  return {
    ref: `blake3:${blake3Hex(document)}`,
    document,
    state: "pending",
    userId: "bob",
    createdAtMs: NOW_MS - 5000,
    expiresAtMs: NOW_MS + 60_000,
    uses: 0,
    inBandAnswers: 0,
    code: "the-code",
    ...more,
  } as unknown as Approval;
}

const SIZE = { columns: 80, rows: 40 };
const start = (approvals: readonly Approval[], size = SIZE): Board =>
  step(emptyBoard(size), { kind: "approvals", approvals }).board;

/** Presses keys one by one, each as its own piece of input. */
function press(board: Board, ...keys: Key[]): { readonly board: Board; readonly effects: readonly BoardEffect[] } {
  const effects: BoardEffect[] = [];
  let current = board;
  for (const key of keys) {
    const next = step(current, { kind: "keys", keys: [key], nowMs: NOW_MS });
    current = next.board;
    if (next.effect) effects.push(next.effect);
  }
  return { board: current, effects };
}

const [one, two] = [approval("one", { createdAtMs: NOW_MS - 9000 }), approval("two")];
const long = approval("long", {}, 200);

describe("keys", () => {
  test("of terminals have names, unknown sequences are left out as wholes", () => {
    expect(keysIn("\u001b[A\u001bOBj\r\u007f\u001b[5~\u001b[200~a\u001b[201~\u0003é\u0007")).toEqual([
      "up",
      "down",
      "j",
      "enter",
      "backspace",
      "page up",
      "a",
      "interrupt",
      "é",
    ]);
    expect(keysIn("\u001b")).toEqual(["escape"]);
  });
});

describe("the list", () => {
  test("decides nothing: it only moves, opens and quits", () => {
    const board = start([two, one]);
    expect(board.approvals.map(({ ref }) => ref)).toEqual([one.ref, two.ref]);
    for (const key of ["a", "s", "t", "d", "w", "y"]) expect(press(board, key).effects).toEqual([]);
    expect(press(board, "j").board.selected).toBe(two.ref);
    expect(press(board, "j", "j", "j", "k").board.selected).toBe(one.ref);
    expect(press(board, "enter").board.view).toMatchObject({ kind: "request", approval: { ref: one.ref } });
    expect(press(board, "q").effects).toEqual([{ kind: "quit" }]);
  });

  test("what is selected stays selected when others come, and passes on when it goes", () => {
    const board = press(start([one, two]), "j").board;
    const older = approval("older", { createdAtMs: 1 });
    const more = step(board, { kind: "approvals", approvals: [older, one, two] }).board;
    expect(more.selected).toBe(two.ref);
    const fewer = step(more, { kind: "approvals", approvals: [older, one, { ...two, state: "denied" }] }).board;
    expect(fewer.selected).toBe(one.ref);
    expect(step(fewer, { kind: "approvals", approvals: [] }).board).not.toHaveProperty("selected");
  });
});

describe("a request", () => {
  const board = press(start([one, two]), "enter").board;

  test("that is seen whole is decided by one key", () => {
    expect(press(board, "a").effects).toEqual([{ kind: "approve", ref: one.ref, scope: "once" }]);
    expect(press(board, "s").effects).toEqual([{ kind: "approve", ref: one.ref, scope: "session" }]);
    expect(press(board, "t", "1", "5", "m", "enter").effects).toEqual([
      { kind: "approve", ref: one.ref, scope: "15m" },
    ]);
    expect(press(board, "d", "n", "x", "backspace", "o", "enter").effects).toEqual([
      { kind: "deny", ref: one.ref, reason: "no" },
    ]);
    expect(press(board, "w").effects).toEqual([{ kind: "propose", ref: one.ref }]);
  });

  test("with rows below takes the end, or the same key twice; jumping to the end is not seeing", () => {
    const open = press(start([long]), "enter").board;
    const once = press(open, "a");
    expect(once.effects).toEqual([]);
    expect(once.board.message).toMatch(/^\d+ rows below have not been on the screen; `a` again decides without them$/);
    expect(press(open, "a", "a").effects).toEqual([{ kind: "approve", ref: long.ref, scope: "once" }]);
    expect(press(open, "a", "s").effects).toEqual([]);
    expect(press(open, "a", "j", "a").effects).toEqual([]);
    expect(press(open, "G", "a").effects).toEqual([]);
    const pages = Array<Key>(10).fill(" ");
    expect(press(open, ...pages, "a").effects).toEqual([{ kind: "approve", ref: long.ref, scope: "once" }]);
    expect(press(open, "d", "enter").effects).toEqual([{ kind: "deny", ref: long.ref, reason: "" }]);
  });

  test("is not decided by what is pasted", () => {
    const pasted = (...keys: Key[]) => step(board, { kind: "keys", keys, nowMs: NOW_MS });
    expect(pasted("a", "a").effect).toBeUndefined();
    expect(pasted("d", "enter").effect).toBeUndefined();
    expect(pasted("j", "j").board.view).toMatchObject({ kind: "request" });
    for (const key of ["t", "d"]) {
      const typed = step(press(board, key).board, { kind: "keys", keys: ["5", "m", "enter"], nowMs: NOW_MS });
      expect([typed.effect, typed.board.view]).toEqual([
        undefined,
        expect.objectContaining({ entry: expect.objectContaining({ text: "5m" }) }),
      ]);
    }
    expect(step(start([one]), { kind: "keys", keys: ["enter", "a"], nowMs: NOW_MS }).board.view.kind).toBe("list");
  });

  test("stays on the screen when another comes, and is not decided once it is over", () => {
    const more = step(board, { kind: "approvals", approvals: [approval("new", { createdAtMs: 1 }), one, two] }).board;
    expect(more.view).toMatchObject({ approval: { ref: one.ref } });
    const over = step(more, { kind: "approvals", approvals: [{ ...one, state: "expired" }, two] }).board;
    expect(press(over, "a").effects).toEqual([]);
    expect(press(over, "a").board.message).toBe("nothing to decide: the request is expired");
  });

  test("that was altered after its reference was made can only be denied", () => {
    const altered = { ...one, document: one.document.replace("write 1", "read 1") };
    const open = press(start([altered]), "enter").board;
    for (const key of ["a", "s", "t", "w"]) expect(press(open, key, key).effects).toEqual([]);
    expect(press(open, "d", "enter").effects).toEqual([{ kind: "deny", ref: one.ref, reason: "" }]);
    expect(screenRows(open, NOW_MS, false).join("\n")).toContain("! the request cannot be read");
  });

  test("a screen of another width is read anew", () => {
    const open = press(start([long]), "enter", ...Array<Key>(10).fill(" ")).board;
    const narrow = step(open, { kind: "size", size: { columns: 40, rows: 40 } }).board;
    expect(press(narrow, "a").effects).toEqual([]);
  });
});

describe("always allow", () => {
  const lines = [{ by: "kernel", kind: "title", text: "always" }] as const;

  test("is written by `y` alone, on the proposal of the request that is on the screen", () => {
    const board = press(start([one, two]), "enter", "w").board;
    const proposed = step(board, { kind: "proposal", ref: one.ref, lines, canWrite: true }).board;
    expect(press(proposed, "a", "w", "enter").effects).toEqual([]);
    expect(press(proposed, "y").effects).toEqual([{ kind: "write", ref: one.ref }]);
    const past = Array.from({ length: 200 }, () => lines[0]);
    const many = step(board, { kind: "proposal", ref: one.ref, lines: past, canWrite: true }).board;
    expect([press(many, "y").effects, press(many, "G", "y").effects, press(many, "y", "j", "y").effects]).toEqual([
      [],
      [],
      [],
    ]);
    expect(press(many, "y", "y").effects).toEqual([{ kind: "write", ref: one.ref }]);
    const impossible = step(board, { kind: "proposal", ref: one.ref, lines, canWrite: false }).board;
    expect(press(impossible, "y").effects).toEqual([]);
    expect(step(board, { kind: "proposal", ref: two.ref, lines, canWrite: true }).board.view.kind).toBe("request");
  });
});

describe("the screen", () => {
  test("has as many rows as the terminal, none wider, in every view and size", () => {
    for (const columns of [20, 80, 200]) {
      for (const rows of [6, 24, 60]) {
        const board = start([one, two, long], { columns, rows });
        for (const keys of [[], ["enter"], ["j", "j", "enter", "G"], ["enter", "d", "x"]]) {
          const shown = screenRows(press(board, ...keys).board, NOW_MS, false);
          expect(shown).toHaveLength(rows);
          expect(Math.max(...shown.map((row) => row.length))).toBeLessThanOrEqual(columns);
        }
      }
    }
  });

  test("shows the list, and the request, and never the code", () => {
    const board = start([one, two]);
    const list = screenRows(board, NOW_MS, false);
    expect(list[0]).toBe("handrail approvals: 2 waiting");
    expect(list[1]).toMatch(/^> [0-9a-f]{12} {3}9s {2}bob {2}`one`: write 1 protected file$/);
    const request = screenRows(press(board, "enter").board, NOW_MS, false).join("\n");
    expect(request).toContain("pending, asked 9s ago, expires in 1m");
    expect(request).toContain("│ +line");
    expect(`${list.join("\n")}${request}`).not.toContain("the-code");
  });

  test("outcomes end the view of their request and leave the others", () => {
    const open = press(start([one, two]), "enter").board;
    const over = step(open, { kind: "outcome", message: "approved", overRef: one.ref }).board;
    expect(over).toMatchObject({ message: "approved", selected: two.ref, view: { kind: "list" } });
    expect(over.approvals.map(({ ref }) => ref)).toEqual([two.ref]);
    expect(step(open, { kind: "outcome", message: "wrong" }).board.view.kind).toBe("request");
  });
});
