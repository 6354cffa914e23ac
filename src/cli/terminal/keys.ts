/** Keys that a terminal in raw mode sends, by name. Pure. */

/** A key: a printable character, or the name of another key. */
export type Key = string;

const NAMED: Readonly<Record<string, Key>> = {
  "\u001b[A": "up",
  "\u001bOA": "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  "\u001b[5~": "page up",
  "\u001b[6~": "page down",
  "\u001b[H": "home",
  "\u001b[F": "end",
  "\r": "enter",
  "\n": "enter",
  "\u007f": "backspace",
  "\b": "backspace",
  "\u001b": "escape",
  "\u0003": "interrupt",
  "\u0004": "interrupt",
};

/** What one piece of input holds. Sequences that are not known are left out as wholes. */
const ESCAPE = "\u001b";
const PIECE = new RegExp(`${ESCAPE}\\[[0-9;?]*[ -/]*[@-~]|${ESCAPE}O[A-Z]|[\\s\\S]`, "gu");

/** The keys in `input`, as it came in one piece. */
export function keysIn(input: string): readonly Key[] {
  const keys: Key[] = [];
  for (const [piece] of input.matchAll(PIECE)) {
    const named = NAMED[piece];
    if (named !== undefined) keys.push(named);
    else if (!/^\p{C}/u.test(piece)) keys.push(piece);
  }
  return keys;
}
