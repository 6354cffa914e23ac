/** Reads the text of an HTTP header of MCP, in which characters that may not stand in one are coded. */

/** What a header says, which may be written as `=?base64?…?=`; `undefined` where that is not exact base64. */
export function plainText(value: string): string | undefined {
  const coded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (coded === undefined) return value;
  const bytes = Buffer.from(coded, "base64");
  return bytes.toString("base64") === coded ? bytes.toString("utf8") : undefined;
}
