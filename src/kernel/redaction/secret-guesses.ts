/**
 * Edits are no oracle for hidden secrets: whoever tries texts until one matches is slowed down.
 *
 * Decides: how many changes of files with hidden text may come to nothing. What a change was tried with is not looked
 * at, and while the limit is reached every change of such a file is refused before it is worked out, so that neither
 * the count nor the refusal says whether a guess was right. INVARIANT: memory is bounded, whoever guesses.
 */

import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Session } from "../../model/people/session.ts";
import type { FileAccess, FileTransform } from "../../model/place/files.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";

/**
 * Changes of files with hidden text that may come to nothing within the window, for a principal in a workspace: an
 * agent that copied badly gets on, and who tries passwords gets through some ten thousand in a day.
 */
export const SECRET_GUESSES_MAX = 10;
/** Milliseconds of that window. */
export const SECRET_GUESS_WINDOW_MS = 60_000;
/** Principals in workspaces whose changes are counted at a time; beyond it whoever began longest ago is forgotten. */
export const SECRET_GUESSERS_MAX = 4096;

interface Window {
  readonly startMs: number;
  count: number;
}

/** Who may guess: a principal in a workspace, through whatever session. */
export type Guesser = Pick<Session, "userId" | "agentId" | "serviceRoot">;

/** What came to nothing within a minute, by guesser; one per kernel process. */
export class SecretGuesses {
  readonly #windows = new Map<string, Window>();

  /** Milliseconds until `guesser` may try again; 0 when they may now. */
  waitMs(guesser: Guesser, nowMs: number): number {
    const window = this.#current(nameOf(guesser), nowMs);
    if (window === undefined || window.count < SECRET_GUESSES_MAX) return 0;
    return window.startMs + SECRET_GUESS_WINDOW_MS - nowMs;
  }

  /** Counts a change that came to nothing. */
  missed(guesser: Guesser, nowMs: number): void {
    const name = nameOf(guesser);
    const window = this.#current(name, nowMs);
    if (window !== undefined) {
      window.count += 1;
      return;
    }
    this.#windows.delete(name); // the map is in the order in which windows began
    this.#windows.set(name, { startMs: nowMs, count: 1 });
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= SECRET_GUESSERS_MAX) break;
      this.#windows.delete(oldest);
    }
  }

  /** Takes a miss back that was counted before its end was known. */
  fitted(guesser: Guesser, nowMs: number): void {
    const window = this.#current(nameOf(guesser), nowMs);
    if (window !== undefined && window.count > 0) window.count -= 1;
  }

  #current(name: string, nowMs: number): Window | undefined {
    const window = this.#windows.get(name);
    return window !== undefined && nowMs >= window.startMs && nowMs - window.startMs < SECRET_GUESS_WINDOW_MS
      ? window
      : undefined;
  }
}

function nameOf({ userId, agentId, serviceRoot }: Guesser): string {
  return `${userId}\0${agentId}\0${serviceRoot}`;
}

/** What telling guesses from other changes needs of a call. */
export interface GuessWatch {
  readonly guesses: SecretGuesses;
  readonly guesser: Guesser;
  readonly hidden: (bytes: Uint8Array) => readonly HiddenRange[];
  /** Looks through long bytes in slices, so that `hidden` answers at once. */
  readonly hiddenAhead: (bytes: Uint8Array) => Promise<void> | undefined;
  readonly nowMs: () => number;
}

/** `access` that changes files with hidden text only as long as not too many such changes came to nothing. */
export function withoutGuessing(access: FileAccess, watch: GuessWatch): FileAccess {
  return {
    ...access,
    transform: (path, bytesMax, transform) => access.transform(path, bytesMax, watchedBy(watch, transform)),
    transformAll: (files) =>
      access.transformAll(files.map((file) => ({ ...file, transform: watchedBy(watch, file.transform) }))),
  };
}

function watchedBy(watch: GuessWatch, transform: FileTransform["transform"]): FileTransform["transform"] {
  const { guesses, guesser, hidden, hiddenAhead, nowMs } = watch;
  // INVARIANT: between the look at the count and a miss nobody else has a turn: what takes a while counts as a miss
  // until it fits.
  const watched = (original: Uint8Array): Uint8Array | Promise<Uint8Array> => {
    if (hidden(original).length === 0) return transform(original);
    const waitMs = guesses.waitMs(guesser, nowMs());
    if (waitMs > 0) throw tooManyGuesses(waitMs);
    try {
      const made = transform(original);
      if (!(made instanceof Promise)) return made;
      guesses.missed(guesser, nowMs());
      return made.then((bytes) => {
        guesses.fitted(guesser, nowMs());
        return bytes;
      });
    } catch (error) {
      guesses.missed(guesser, nowMs());
      throw error;
    }
  };
  const shown = (made: Uint8Array): Uint8Array | Promise<Uint8Array> => hiddenAhead(made)?.then(() => made) ?? made;
  return (original) => {
    const ahead = hiddenAhead(original);
    if (ahead !== undefined) return ahead.then(() => watched(original)).then(shown);
    const made = watched(original);
    return made instanceof Promise ? made.then(shown) : shown(made);
  };
}

function tooManyGuesses(waitMs: number): ToolFailure {
  return new ToolFailure(
    "RATE_LIMITED",
    "parts of the file are hidden from you, and too many edits of such files came to nothing within a minute; nothing was changed",
    {
      suggestion: "wait, then read the file again and copy text that holds no redaction marker exactly",
      retryAfterMs: waitMs,
    },
  );
}
