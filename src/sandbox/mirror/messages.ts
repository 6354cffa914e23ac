/** The messages of the thread that passes changes on: what it is asked, and what it answers. */
import type { Note } from "./note.ts";
import type { MirrorPlace } from "./view-mirror.ts";

/** Opens the mirror of a view, shows a path in it, or closes it; `mirror` says which, `id` is that of the answer. */
export type MirrorRequest =
  | { readonly kind: "open"; readonly mirror: number; readonly place: MirrorPlace }
  | { readonly kind: "show"; readonly mirror: number; readonly id: number; readonly path: string }
  | { readonly kind: "close"; readonly mirror: number; readonly id: number };

/** The answer to `id`: what was noted, of a mirror that was closed; or what went wrong. */
export interface MirrorReply {
  readonly id: number;
  readonly notes?: ReadonlyMap<string, Note>;
  readonly problem?: string;
}
