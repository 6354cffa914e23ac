/**
 * Finds what a stranger's text hides from people, or says to a model behind their back.
 *
 * A finding is a reason to look, no proof: nothing is decided here. INVARIANT: linear in the text's length.
 */

/** What was found. */
export interface HiddenInstruction {
  readonly kind: "bidirectional" | "tag_characters" | "invisible" | "lookalike" | "imperative";
  /** What a person is told of it. */
  readonly message: string;
}

const BIDIRECTIONAL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const TAGS = /[\u{e0000}-\u{e007f}]/u;
const INVISIBLE = /(?![\t\n\r])[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Letters of other alphabets that look like Latin ones, within a word of Latin ones. */
const LIKE_LATIN =
  "[\\p{Script=Cyrillic}\\u0391\\u0392\\u0395\\u0396\\u0397\\u0399\\u039a\\u039c\\u039d\\u039f\\u03a1\\u03a4\\u03a5\\u03a7\\u03b1\\u03bf\\u03c1\\u03c5]";
const LOOKALIKE = new RegExp(`\\p{Script=Latin}${LIKE_LATIN}|${LIKE_LATIN}\\p{Script=Latin}`, "u");
/** Marks with which known attacks address a model; blanks and `_` in a row are one blank when they are looked for. */
const IMPERATIVES: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\s{1,8}(?:(?:all|any|the|your|of|every)\s{1,8}){0,3}(?:previous|prior|earlier|above|preceding|other|system)\b/iu,
  /\b(?:do\s{1,8}not|don['\u2019]?t|never|must\s{1,8}not|without)\s{1,8}(?:ever\s{1,8})?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|show(?:ing)?|ask(?:ing)?|alert(?:ing)?)\b.{0,40}\b(?:user|human|person|anyone|operator)\b/isu,
  /\b(?:do not|don['\u2019]?t|never|must not)\b[^.!?]{1,60}\b(?:tell|inform|reveal|notify|alert)\b.{0,40}\b(?:user|human|person|anyone|operator)\b/isu,
  /<\s{0,4}\/?\s{0,4}(?:important|system|instructions?|secret|hidden|admin|critical)\b[^<>]{0,80}>/iu,
  /<!--|<\|[a-z ]{1,30}\|?>|\[\s{0,4}\/?\s{0,4}(?:inst|system|important)\s{0,4}\]/iu,
  /\b(?:before|after|when|whenever|instead\s{1,4}of)\s{1,8}(?:using|calling|you\s{1,8}(?:use|call))\b.{0,60}\b(?:any|other|another|every)\s{1,8}tools?\b/isu,
  /\b(?:system\s{1,8}prompt|new\s{1,8}instructions|you\s{1,8}are\s{1,8}now|this\s{1,8}tool\s{1,8}must\s{1,8}be\s{1,8}(?:called|used)\s{1,8}first)\b/iu,
  /(?:~\/\.ssh|id_rsa|id_ed25519|\.aws\/credentials|\/etc\/passwd|mcp\.json)/iu,
];
/** Characters of a quoted place. */
const QUOTED_MAX = 60;

/** What `text` hides, each kind of character once and each mark once. */
export function findHiddenInstructions(text: string): readonly HiddenInstruction[] {
  const found: HiddenInstruction[] = [];
  const add = (kind: HiddenInstruction["kind"], message: string) => void found.push({ kind, message });
  const bidirectional = BIDIRECTIONAL.exec(text)?.[0];
  if (bidirectional !== undefined)
    add("bidirectional", `holds ${numberOf(bidirectional)}, which changes the order in which text is shown`);
  const tag = TAGS.exec(text)?.[0];
  if (tag !== undefined) add("tag_characters", `holds ${numberOf(tag)}, a tag character that only models read`);
  const rest = text.replaceAll(new RegExp(`${BIDIRECTIONAL.source}|${TAGS.source}`, "gu"), "");
  const invisible = INVISIBLE.exec(rest)?.[0];
  if (invisible !== undefined) add("invisible", `holds ${numberOf(invisible)}, a character that people do not see`);
  // what is hidden between letters must not hide the words
  const seen = rest
    .replaceAll(/(?![\t\n\r])[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu, "")
    .normalize("NFKC")
    .replaceAll(/[\s_]+/gu, " ");
  const alike = LOOKALIKE.exec(seen)?.[0];
  if (alike !== undefined)
    add("lookalike", `mixes alphabets within a word (\`${alike}\`), so that it reads as another`);
  for (const mark of IMPERATIVES) {
    const place = mark.exec(seen)?.[0];
    if (place !== undefined)
      add("imperative", `speaks to the model: "${place.slice(0, QUOTED_MAX).replaceAll(/\s+/g, " ")}"`);
  }
  return found;
}

function numberOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
