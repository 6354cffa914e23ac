/** Applies the edits of a call to a file. Places of expressions and syntax patterns are found first. */

import type { Match } from "../../model/work/matching.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";
import type { EditWords, WantedEdit } from "./edit-arguments.ts";
import { failureOf } from "./edit-failures.ts";
import { applyEdits, EDIT_MATCHES_MAX, type LoomResult } from "./loom.ts";

/** What edits are applied with. */
export interface EditTerms {
  readonly path: string;
  readonly edits: readonly WantedEdit[];
  readonly words: EditWords;
  readonly hidden: (bytes: Uint8Array) => readonly HiddenRange[];
  readonly match: Match;
}

/** What the edits make of a file. */
export type Applied = Extract<LoomResult, { kind: "applied" }>;

/** Applies the edits; at once where all are plain text. @throws ToolFailure when they do not fit */
export function applied(original: Uint8Array, terms: EditTerms): Applied | Promise<Applied> {
  const isPlain = terms.edits.every(({ mode }) => mode === "exact");
  return isPlain ? fitted(original, terms.edits, terms) : located(original, terms);
}

async function located(original: Uint8Array, terms: EditTerms): Promise<Applied> {
  const { path, words, match } = terms;
  const edits: LocatedEdit[] = [];
  for (const [index, edit] of terms.edits.entries()) {
    if (edit.mode === "exact") {
      edits.push(edit);
      continue;
    }
    const { places, hidden } = await match(original, {
      mode: edit.mode,
      spec: Buffer.from(edit.spec).toString(),
      content: Buffer.from(edit.content).toString(),
      words: {
        spec: `the ${words.spec} of ${words.edit(index)}`,
        content: `the ${words.content} of ${words.edit(index)}`,
      },
      language: edit.language,
      path,
      placesMax: EDIT_MATCHES_MAX,
    });
    edits.push({ ...edit, places, touchHidden: hidden });
  }
  return fitted(original, edits, terms);
}

/** An edit, and how many of its matches touch text that is hidden from the caller. */
export interface LocatedEdit extends WantedEdit {
  readonly touchHidden?: number;
}

function fitted(original: Uint8Array, edits: readonly LocatedEdit[], { hidden, words }: EditTerms): Applied {
  const secrets = hidden(original);
  const result = applyEdits(original, edits, secrets);
  if (result.kind !== "applied") throw failureOf(result, { original, edits, hidden: secrets, words });
  return result;
}
