/** Sets of ASCII characters, asked by their codes. */

/** Letters and digits. */
export const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Whether a character is one of `characters`, by its code; one beyond ASCII, or no character at all, is not. */
export function codeSet(characters: string): (code: number) => boolean {
  const codes = new Uint8Array(128);
  for (const character of characters) codes[character.charCodeAt(0)] = 1;
  return (code) => codes[code] === 1;
}
