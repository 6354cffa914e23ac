/** Writes a text as an expression that matches it alone. Pure. */

/** An expression that matches `text` alone. */
export function escapeExpression(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
