/** Lists the comments of a configuration, so that a change that would lose one is seen. */
import { createScanner } from "jsonc-parser";

/** Kinds of tokens, which the scanner's package declares for compilers alone. */
const [LINE_COMMENT, BLOCK_COMMENT, END] = [12, 13, 17];

/** The first comment of `before` that `after` does not hold as often; `undefined` where none is lost. */
export function lostComment(before: string, after: string, format: "jsonc" | "toml"): string | undefined {
  const commentsIn = format === "toml" ? commentLines : jsoncComments;
  const left = new Map<string, number>();
  for (const comment of commentsIn(after)) left.set(comment, (left.get(comment) ?? 0) + 1);
  return commentsIn(before).find((comment) => {
    const count = left.get(comment) ?? 0;
    left.set(comment, count - 1);
    return count <= 0;
  });
}

/** Lines that are a comment. One within a text of several lines looks the same, and stays as well. */
function commentLines(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("#"));
}

function jsoncComments(text: string): readonly string[] {
  const scanner = createScanner(text);
  const comments: string[] = [];
  for (let kind = scanner.scan(); kind !== END; kind = scanner.scan())
    if (kind === LINE_COMMENT || kind === BLOCK_COMMENT) comments.push(scanner.getTokenValue().trim());
  return comments;
}
