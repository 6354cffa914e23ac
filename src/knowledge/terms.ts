/**
 * Splits text into index terms: whole identifiers and the words that they are made of, in lower case.
 *
 * `readFileSync` gives `readfilesync read file sync`, so that a question in plain words finds code and a name finds
 * itself. INVARIANT: linear in the text; what is no word, such as a base64 value, gives nothing.
 */

/** Characters of a word that is indexed: longer ones are data. */
const WORD_CHARACTERS_MAX = 64;
/** Terms of a question that are searched for: what comes after them says little. */
const QUESTION_TERMS_MAX = 32;

const WORD = /[\p{L}\p{N}_$]+/gu;
/** A border within an identifier: `fileSync`, `HTTPServer`, `utf8`, `snake_case`. */
const BORDER = /[_$]+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

/** Words of questions that say nothing about what is asked for. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a about all an and any are as at be been but by can could did do does for from get given has have how i if in " +
    "into is it its me my no not of on or our should so some such than that the their them then there these they " +
    "this those to us use used using was we were what when where which while who why will with would you your"
  ).split(" "),
);

/** The terms of `text`, in its order, with repetitions. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    if (word.length > WORD_CHARACTERS_MAX) continue;
    const parts = word.split(BORDER).filter((part) => part !== "");
    if (parts.length > 1) terms.push(parts.join("").toLowerCase());
    for (const part of parts) terms.push(part.toLowerCase());
  }
  return terms;
}

/** The terms of a question, each once, without words that every text has; all of them where nothing else is left. */
export function questionTerms(question: string): readonly string[] {
  const all = [...new Set(termsOf(question))];
  const telling = all.filter((term) => !STOP_WORDS.has(term));
  return (telling.length > 0 ? telling : all).slice(0, QUESTION_TERMS_MAX);
}
