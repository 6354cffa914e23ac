/** Finds the known name that somebody probably meant by one that is not known. Pure. */
import { distance } from "fastest-levenshtein";

/** Edits (letters added, removed or exchanged) up to which a name counts as meant, whatever its length. */
const EDITS_MAX = 3;
/** A third of the letters may be wrong: in a short word three edits make any other word. */
const LETTERS_FOR_AN_EDIT = 3;
/** Characters of a name that is looked at; nobody misspells a longer one. */
const NAME_CHARACTERS_MAX = 100;

/**
 * The name of `known` that is nearest to `name`, or `undefined` where none is near. Case, `-` and `_` do not count.
 * A name that goes on from what was typed (`read` for `read_file`) is near, too.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length === 0 || name.length > NAME_CHARACTERS_MAX) return undefined;
  const wanted = plain(name);
  let nearest: { readonly name: string; readonly edits: number } | undefined;
  for (const candidate of known) {
    const edits = distance(wanted, plain(candidate));
    const isNear = edits <= Math.min(EDITS_MAX, Math.ceil(wanted.length / LETTERS_FOR_AN_EDIT));
    if (isNear && edits < (nearest?.edits ?? Number.POSITIVE_INFINITY)) nearest = { name: candidate, edits };
  }
  if (nearest !== undefined) return nearest.name;
  const longer = [...known].filter((candidate) => wanted.length > 1 && plain(candidate).startsWith(wanted));
  return longer.length === 1 ? longer[0] : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
