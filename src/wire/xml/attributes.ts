/**
 * Parses the attributes of a tag: `name="value"` or `name='value'`, with XML's five entities and numeric ones.
 *
 * INVARIANT: linear in the text; what is no attribute is a problem and never guessed.
 */

/** Attributes of one tag. */
const ATTRIBUTES_MAX = 64;

const ATTRIBUTE = /\s+([A-Za-z_][\w.-]{0,63})\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const ENTITY = /&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));|&/g;
const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const CODE_POINT_MAX = 0x10ffff;

/** The attributes that `text` is made of, in its order; or what is wrong with it. */
export function parseAttributes(text: string): ReadonlyMap<string, string> | { readonly problem: string } {
  const found = new Map<string, string>();
  let at = 0;
  const end = text.trimEnd().length;
  while (at < end) {
    ATTRIBUTE.lastIndex = at;
    const match = ATTRIBUTE.exec(text);
    if (match === null) return { problem: 'has something that is no attribute; write name="value"' };
    const [, name = "", double, single] = match;
    if (found.has(name)) return { problem: `has the attribute \`${name}\` twice; keep one` };
    if (found.size >= ATTRIBUTES_MAX) return { problem: `has more than ${ATTRIBUTES_MAX} attributes` };
    const value = decoded(double ?? single ?? "");
    if (value === undefined) return { problem: `has an unknown entity in \`${name}\`; write & as &amp;` };
    found.set(name, value);
    at = ATTRIBUTE.lastIndex;
  }
  return found;
}

/** The text without entities; `undefined` where one is unknown. */
function decoded(text: string): string | undefined {
  if (!text.includes("&")) return text;
  let isKnown = true;
  const value = text.replace(ENTITY, (...found: readonly (string | undefined)[]) => {
    const [, name, decimal, hexadecimal] = found;
    if (name !== undefined) return NAMED[name] ?? "";
    const digits = decimal ?? hexadecimal;
    const code = digits === undefined ? Number.NaN : Number.parseInt(digits, decimal === undefined ? 16 : 10);
    if (code > 0 && code <= CODE_POINT_MAX && !(code >= 0xd800 && code <= 0xdfff)) return String.fromCodePoint(code);
    isKnown = false;
    return "";
  });
  return isKnown ? value : undefined;
}
