/** The messages of a thread that passes changes on: what it is asked, and what it answers. */
import type { Note } from "./note.ts";

/** Shows a path, or ends the mirror; `id` is that of the answer. */
export type MirrorRequest =
  | { readonly kind: "show"; readonly id: number; readonly path: string }
  | { readonly kind: "end"; readonly id: number };

/** The answer to `id`: of a mirror that has ended what was noted, or what went wrong. */
export interface MirrorReply {
  readonly id: number;
  readonly notes?: ReadonlyMap<string, Note>;
  readonly problem?: string;
}
