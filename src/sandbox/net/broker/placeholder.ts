/**
 * Makes placeholders in the shape of real keys, so that programs which check a key's form take them. Pure.
 *
 * INVARIANT: a placeholder says nothing of the value but its length, its kinds of characters, and the prefix that says
 * whose key it is; each is made by chance, so that it stands in no text that did not take it from here.
 */

/** Prefixes by which vendors mark their keys; any other beginning is a part of the secret. */
const PREFIX =
  /^(?:gh[opsru]_|github_pat_|glpat-|sk-ant-(?:api|admin)\d\d-|sk-(?:proj|svcacct|live|test|or-v1)-|[spr]k_(?:live|test)_|sk-|xox[abeprs]-|AKIA|ASIA|AIza|SG\.|hf_|npm_|pypi-|dop_v1_|shp(?:at|ss|ca)_|whsec_|lin_api_|dapi)/;
/** Characters that are drawn at least, so that no two are alike and none is met by chance. */
const DRAWN_MIN = 12;
/** A placeholder for a value that is shorter or is not of printable characters. */
const SHORT = "secret_placeholder_";
const DRAWN_OF_SHORT = 20;

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/[0-9]/, "0123456789"],
  [/[a-z]/, LOWER],
  // `+` and `/` are read in two ways in addresses
  [/[A-Z+/]/, LOWER.toUpperCase()],
];

/** @param drawn gives a whole number of at least 0 and less than its argument */
export function newPlaceholder(value: string, drawn: (below: number) => number): string {
  const draw = (from: string) => from[drawn(from.length)] ?? "";
  const prefix = PREFIX.exec(value)?.[0] ?? "";
  const rest = value.slice(prefix.length);
  const letters = [...rest].filter((character) => /[A-Za-z0-9]/.test(character)).length;
  if (letters < DRAWN_MIN || !/^[!-~]+$/.test(value))
    return SHORT + Array.from({ length: DRAWN_OF_SHORT }, () => draw(LOWER)).join("");
  const isHex = /^[0-9a-f]+$/.test(rest);
  return (
    prefix +
    [...rest]
      .map((character) => {
        if (isHex) return draw("0123456789abcdef");
        const kind = KINDS.find(([characters]) => characters.test(character));
        // other characters mean something to whoever reads the value
        return kind === undefined ? character : draw(kind[1]);
      })
      .join("")
  );
}
