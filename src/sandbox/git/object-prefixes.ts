/**
 * Finds the object whose name begins with some digits.
 *
 * INVARIANT: digits with which several objects begin name none, whatever kinds they are of; nor do digits in a
 * repository that takes objects from elsewhere, or has more packs than are looked at.
 */
import type { RepositoryFiles } from "./repository-files.ts";

/** Packs of a repository that are looked through. */
const GIT_PACKS_SEARCHED_MAX = 1000;
/** Loose objects with the same first two digits that are looked at. */
const GIT_LOOSE_SEARCHED_MAX = 20_000;
/** Names of one pack that begin alike, and are looked at. */
const ALIKE_MAX = 64;

const INDEX = /^pack-(?:[0-9a-f]{40}|[0-9a-f]{64})\.idx$/;
/** The mark and version of an index of a pack (gitformat-pack(5)). */
const VERSION_2 = "ff744f6300000002";
const HEADER_BYTES = 8;
const FANOUT_BYTES = 256 * 4;

/** @param digits four at least */
export function objectOfPrefix(files: RepositoryFiles, digits: string): string | undefined {
  if (files.kindOf(".git/objects/info/alternates") !== "nothing") return undefined;
  const [directory, rest] = [digits.slice(0, 2), digits.slice(2)];
  const loose = files.namesIn(`.git/objects/${directory}`, GIT_LOOSE_SEARCHED_MAX);
  const packs = files.namesIn(".git/objects/pack", GIT_PACKS_SEARCHED_MAX);
  if (loose === undefined || packs === undefined) return undefined;
  const found = new Set(
    loose.filter((name) => name.startsWith(rest) && HEX.test(name)).map((name) => directory + name),
  );
  const bytes = files.read(".git/config", CONFIG_BYTES_MAX)?.match(SHA256) ? 32 : 20;
  for (const pack of packs.filter((name) => INDEX.test(name))) {
    const names = namesOfPack(files, `.git/objects/pack/${pack}`, { digits, bytes });
    if (names === undefined) return undefined;
    for (const name of names) found.add(name);
  }
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

const HEX = /^[0-9a-f]+$/;
const CONFIG_BYTES_MAX = 65_536;
const SHA256 = /^\s*objectformat\s*=\s*"?sha256/im;

/** Names in the pack's index that begin with `digits`; `undefined` where it cannot be read, or for too many. */
function namesOfPack(
  files: RepositoryFiles,
  path: string,
  { digits, bytes }: { readonly digits: string; readonly bytes: number },
): readonly string[] | undefined {
  const head = files.piece(path, 0, HEADER_BYTES + FANOUT_BYTES);
  if (head?.length !== HEADER_BYTES + FANOUT_BYTES || head.toString("hex", 0, HEADER_BYTES) !== VERSION_2)
    return undefined;
  const first = Number.parseInt(digits.slice(0, 2), 16);
  const upTo = (index: number) => (index < 0 ? 0 : head.readUInt32BE(HEADER_BYTES + index * 4));
  const nameAt = (index: number) =>
    files.piece(path, HEADER_BYTES + FANOUT_BYTES + index * bytes, bytes)?.toString("hex") ?? "";
  let [low, high] = [upTo(first - 1), upTo(first)];
  const end = high;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (nameAt(middle) < digits) low = middle + 1;
    else high = middle;
  }
  const names: string[] = [];
  for (let index = low; index < end; index += 1) {
    const name = nameAt(index);
    if (!name.startsWith(digits)) return name.length === bytes * 2 ? names : undefined;
    if (names.push(name) > ALIKE_MAX) return undefined;
  }
  return names;
}
