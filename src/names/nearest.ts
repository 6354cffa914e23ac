/** Finds the known name that somebody most likely meant. */

/** Characters of a name that is compared; a longer one is no slip of the fingers. */
const NAME_CHARACTERS_MAX = 64;
/** Slips that one name may hold, for every three of its characters. */
const CHARACTERS_PER_SLIP = 3;

/** The name among `known` that differs least from `meant`, where that is little; the first of equals. */
export function nearestName(meant: string, known: Iterable<string>): string | undefined {
  if (meant.length === 0 || meant.length > NAME_CHARACTERS_MAX) return undefined;
  const wanted = plain(meant);
  let nearest: { readonly name: string; readonly slips: number } | undefined;
  for (const name of known) {
    if (name.length > NAME_CHARACTERS_MAX) continue;
    const slips = slipsBetween(wanted, plain(name));
    if (slips > Math.ceil(Math.max(wanted.length, name.length) / CHARACTERS_PER_SLIP)) continue;
    if (nearest === undefined || slips < nearest.slips) nearest = { name, slips };
  }
  return nearest?.name;
}

/** `readFile`, `read-file` and `READ_FILE` are one name to people. */
function plain(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
}

/** How many characters have to be put in, taken out, replaced or exchanged with their neighbour. */
function slipsBetween(left: string, right: string): number {
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1;
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
