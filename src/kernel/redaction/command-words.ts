/** Hides secrets in a command that stands as a list of words. */

/**
 * The words without their secrets. A secret that only the words together show, such as a value after its name, leaves
 * the whole line as one word.
 * @param hide a text without its secrets
 */
export function hideInCommand(words: readonly string[], hide: (text: string) => string): readonly string[] {
  const shown = words.map(hide);
  const line = shown.join(" ");
  const whole = hide(line);
  return whole === line ? shown : [whole];
}
