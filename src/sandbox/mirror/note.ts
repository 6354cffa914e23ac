/** The notes of what was made to stand in a view, and whether it still stands there. */
import { blake3Hex } from "../../base/hash.ts";
import { contentOf, isWhiteout, standing } from "./standing.ts";

/** The bits of rights. */
export const MODE = 0o7777;

/** What was made to stand there. */
export type Note =
  | { readonly kind: "gone" | "directory" }
  | { readonly kind: "file"; readonly bytes: number; readonly mode: number; readonly digest: string };

/** Whether the upper directory holds what was noted. */
export function isAsNoted(upper: number, path: string, note: Note): boolean {
  const found = standing(upper, path);
  if (found === undefined) return false;
  if (note.kind === "gone") return isWhiteout(found);
  if (note.kind !== "file") return found.isDirectory();
  if (!found.isFile() || found.size !== note.bytes || (found.mode & MODE) !== note.mode) return false;
  const bytes = contentOf(upper, path, note.bytes);
  return bytes !== undefined && blake3Hex(bytes) === note.digest;
}
