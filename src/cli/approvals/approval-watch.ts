/**
 * `handrail approvals watch`: the board on a terminal, or one line for each change where there is none.
 *
 * The terminal is given back as it was, however the watch ends. Nothing is polled but the clock on the screen: the
 * stores say when something has changed.
 */
import { once } from "node:events";
import { KernelError } from "../../base/errors.ts";
import { shortRef } from "../../model/approval/prompt-lines.ts";
import { PROMPT_COLUMNS_DEFAULT } from "../../model/approval/prompt-rows.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { STOP_SIGNALS, untilStopped } from "../start/stop-signals.ts";
import { keysIn } from "../terminal/keys.ts";
import { print, printJson, visible } from "../terminal/output.ts";
import { wantsColours } from "../terminal/screen-colours.ts";
import { type Board, type BoardEffect, type BoardEvent, emptyBoard, step } from "./approval-board.ts";
import { parseScope } from "./approval-scope.ts";
import { screenRows } from "./approval-screen.ts";
import { type Approval, approvalJson, scopeOf, standingOf, summaryOf } from "./approval-view.ts";

/** Milliseconds between two looks at the clock while the board is on a screen. */
const TICK_MS = 1000;
const ENTER_SCREEN = "\u001b[?1049h\u001b[?25l";
const LEAVE_SCREEN = "\u001b[?25h\u001b[?1049l";

/** Watches until the person quits, or the command is stopped. */
export async function watchApprovals(kernel: OpenKernel, json: boolean): Promise<void> {
  if (json || !process.stdin.isTTY || !process.stdout.isTTY) return watchPlainly(kernel, json);
  const { approverToken } = await import("../../server/people/approver-credentials.ts");
  const watch = new TerminalWatch(kernel, await approverToken(process.env, kernel.operator.path));
  await watch.run();
}

/** One line for each request that waits, and for each change of one. */
async function watchPlainly(kernel: OpenKernel, json: boolean): Promise<void> {
  const told = new Map<string, string>();
  const tell = async () => {
    const approvals = await kernel.approvals.list();
    for (const approval of [...approvals].reverse()) {
      const before = told.get(approval.ref);
      told.set(approval.ref, approval.state);
      if (before === approval.state || (before === undefined && approval.state !== "pending")) continue;
      if (json) printJson(approvalJson(approval));
      else
        print(
          `${shortRef(approval.ref)}  ${visible(approval.userId)}  ${summaryOf(approval)}  ${standingOf(approval, Date.now())}`,
        );
    }
    const known = new Set(approvals.map(({ ref }) => ref));
    for (const ref of told.keys()) if (!known.has(ref)) told.delete(ref);
  };
  let last = Promise.resolve();
  let problem: unknown;
  const stop = await kernel.approvals.watch(() => {
    last = last.then(tell).catch((error: unknown) => {
      problem ??= error;
    });
  });
  try {
    await tell();
    await untilStopped(once(process.stdout, "close")); // its reader may go
    await last;
  } finally {
    stop();
  }
  if (problem !== undefined) throw problem;
}

class TerminalWatch {
  readonly #kernel: OpenKernel;
  readonly #credential: string;
  readonly #colours = wantsColours(process.stdout, process.env);
  #board: Board;
  #looks = 0;
  #end: (() => void) | undefined;
  #fail: ((error: unknown) => void) | undefined;

  constructor(kernel: OpenKernel, credential: string) {
    this.#kernel = kernel;
    this.#credential = credential;
    this.#board = emptyBoard(sizeOf(process.stdout));
  }

  async run(): Promise<void> {
    const ended = new Promise<void>((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    const onInput = (bytes: Buffer) =>
      this.#take({ kind: "keys", keys: keysIn(bytes.toString("utf8")), nowMs: Date.now() });
    const onSize = () => this.#take({ kind: "size", size: sizeOf(process.stdout) });
    const onSignal = () => this.#end?.();
    const stop = await this.#kernel.approvals.watch(() => void this.#refresh());
    const ticks = setInterval(() => {
      const nowMs = Date.now();
      if (this.#board.approvals.some(({ expiresAtMs }) => expiresAtMs <= nowMs)) void this.#refresh();
      else this.#draw();
    }, TICK_MS);
    process.stdin.setRawMode(true);
    process.stdout.write(ENTER_SCREEN);
    process.stdin.on("data", onInput).resume();
    process.stdout.on("resize", onSize);
    for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
    try {
      await this.#refresh();
      await ended;
    } finally {
      clearInterval(ticks);
      stop();
      for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
      process.stdout.off("resize", onSize);
      process.stdin.off("data", onInput).pause();
      process.stdin.setRawMode(false);
      process.stdout.write(LEAVE_SCREEN);
    }
  }

  /** Looks again. A look that ends after a later one has begun is out of date. */
  async #refresh(): Promise<void> {
    this.#looks += 1;
    const look = this.#looks;
    try {
      const approvals = await this.#kernel.approvals.list();
      if (look === this.#looks) this.#take({ kind: "approvals", approvals });
    } catch (error) {
      this.#fail?.(error);
    }
  }

  #take(event: BoardEvent): void {
    const { board, effect } = step(this.#board, event);
    this.#board = board;
    this.#draw();
    if (effect !== undefined) this.#do(effect).catch((error: unknown) => this.#say(error));
  }

  /** What people can mend is said on the board; everything else ends the watch. */
  #say(error: unknown): void {
    if (error instanceof KernelError && error.code !== "INTERNAL")
      this.#take({ kind: "outcome", message: error.message });
    else this.#fail?.(error);
  }

  #draw(): void {
    const rows = screenRows(this.#board, Date.now(), this.#colours);
    process.stdout.write(`\u001b[H${rows.map((row) => `${row}\u001b[K`).join("\r\n")}\u001b[J`);
  }

  async #do(effect: BoardEffect): Promise<void> {
    switch (effect.kind) {
      case "quit":
        this.#end?.();
        return;
      case "approve": {
        const scope = parseScope(effect.scope, Date.now());
        return this.#decide(effect.ref, { approved: true, scope }, `approved ${scopeOf(scope)}`);
      }
      case "deny":
        return this.#decide(
          effect.ref,
          { approved: false, ...(effect.reason !== "" && { reason: effect.reason }) },
          "denied",
        );
      case "propose":
      case "write":
        return this.#always(effect.ref, effect.kind === "write");
    }
  }

  async #decide(ref: string, wanted: Parameters<OpenKernel["approvals"]["decide"]>[1], what: string): Promise<void> {
    const outcome = await this.#kernel.approvals.decide(ref, wanted, this.#credential);
    const message =
      outcome.kind === "decided"
        ? `${shortRef(ref)} ${what}`
        : outcome.kind === "stands"
          ? `nothing was changed: ${shortRef(ref)} is ${standingOf(outcome.approval, Date.now())}`
          : outcome.kind === "unknown"
            ? "the request is gone"
            : "this is no approver's credential; make one with `handrail approvers add NAME --save`";
    this.#take({ kind: "outcome", message, ...(outcome.kind !== "wrong_credential" && { overRef: ref }) });
    await this.#refresh();
  }

  async #always(ref: string, write: boolean): Promise<void> {
    const { alwaysLines, TAKEN_OVER, writeAlways } = await import("./always-allow.ts");
    const found: Approval | undefined = (await this.#kernel.approvals.list()).find((approval) => approval.ref === ref);
    if (found === undefined) return this.#take({ kind: "outcome", message: "the request is gone", overRef: ref });
    if (write) {
      const file = await writeAlways(this.#kernel, found);
      return this.#take({
        kind: "outcome",
        message: `written to ${file}; ${TAKEN_OVER}; the request still waits`,
      });
    }
    const { lines, canWrite } = await alwaysLines(this.#kernel, found);
    this.#take({ kind: "proposal", ref, lines, canWrite });
  }
}

/** The terminal's size; some do not know theirs. */
function sizeOf({ columns, rows }: Partial<Board["size"]>): Board["size"] {
  return { columns: columns || PROMPT_COLUMNS_DEFAULT, rows: rows || ROWS_DEFAULT };
}

const ROWS_DEFAULT = 24;
