/** Says where a text stops being JSON. Pure. */

/** Characters of the text that are shown on each side of the fault. */
const SNIPPET_CHARACTERS = 20;

/**
 * Line, column and surroundings of the first fault of `text`, such as "line 1, column 9, near `"path": x`"; `undefined`
 * where it is JSON. Whoever typed the text sees it again: this is for nobody else.
 */
export function jsonFault(text: string): string | undefined {
  const place = faultPlace(text);
  if (place === undefined) return undefined;
  const before = text.slice(0, place);
  const { line, column } = lineAndColumn(before);
  const where = `line ${line}, column ${column}`;
  if (place >= text.length) return `${where}, where it ends too early`;
  const start = Math.max(before.lastIndexOf("\n") + 1, place - SNIPPET_CHARACTERS);
  const [shown = ""] = text
    .slice(start, place + SNIPPET_CHARACTERS)
    .split("\n", 2)
    .slice(0, 1);
  return `${where}, near \`${shown.toWellFormed()}\``;
}

/** Line and column of the first fault, both from 1, for texts that are not to be repeated; `undefined` where it is JSON. */
export function jsonFaultPlace(text: string): { readonly line: number; readonly column: number } | undefined {
  const place = faultPlace(text);
  return place === undefined ? undefined : lineAndColumn(text.slice(0, place));
}

/** Where the character behind `before` stands. */
function lineAndColumn(before: string): { readonly line: number; readonly column: number } {
  return { line: before.split("\n").length, column: before.length - before.lastIndexOf("\n") };
}

/** Index of the first character that fits no JSON; the length where the end came too early. */
function faultPlace(text: string): number | undefined {
  const place = placeSaid(text);
  if (place !== "unsaid") return place;
  // The engine does not always say the place: it is behind the longest beginning that could still become JSON.
  let [fits, fails] = [0, text.length];
  while (fails - fits > 1) {
    const middle = Math.floor((fits + fails) / 2);
    const said = placeSaid(text.slice(0, middle));
    if (said === undefined || (said !== "unsaid" && said >= middle)) fits = middle;
    else fails = middle;
  }
  return fits;
}

/** What the engine says of the place; `undefined`: it is JSON. */
function placeSaid(text: string): number | "unsaid" | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const place = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
    if (place !== undefined) return Number(place);
    return message === "Unexpected end of JSON input" ? text.length : "unsaid";
  }
}
