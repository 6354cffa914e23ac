/** Writes lines of a text with their numbers, each cut to what can be read. Pure. */

/** Characters (UTF-16 code units) of one numbered line that are shown; the rest of the line is counted. */
export const NUMBERED_LINE_CHARACTERS_MAX = 2000;

/** The lines of `text`, of which the first has the number `first`, each as number, tab and text. */
export function numberedLines(text: string, first: number): string {
  if (text === "") return "";
  const isEnded = text.endsWith("\n");
  const lines = (isEnded ? text.slice(0, -1) : text).split("\n");
  const numbered = lines.map((line, index) => `${first + index}\t${cut(line)}`).join("\n");
  return isEnded ? `${numbered}\n` : numbered;
}

function cut(line: string): string {
  const over = line.length - NUMBERED_LINE_CHARACTERS_MAX;
  return over <= 0
    ? line
    : `${line.slice(0, NUMBERED_LINE_CHARACTERS_MAX).toWellFormed()} … (${over} characters left out)`;
}
