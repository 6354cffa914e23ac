/** Caches what a redactor said of short texts, which come again with every call. */

import { Shapes } from "../../base/shapes.ts";
import type { Redactor, ValueJudge } from "../../redact/redact.ts";

/** Characters of the longest text that is remembered as clean; no token is as short, whole or encoded. */
export const NAME_CHARACTERS_MAX = 24;
/** Maximum entries in the cache of clean texts. */
export const CLEAN_NAMES_MAX = 2048;

/** What a redactor said of short texts. */
export interface KnownNames {
  readonly clean: Set<string>;
  readonly judges: Map<string, ValueJudge | undefined>;
  readonly shapes: Shapes<readonly (ValueJudge | undefined)[]>;
}

const knownNames = new WeakMap<Redactor, KnownNames>();

/** What this very redactor said of short texts: another one has other rules. */
export function namesOf(redactor: Redactor): KnownNames {
  let names = knownNames.get(redactor);
  if (names === undefined) {
    names = { clean: new Set(), judges: new Map(), shapes: new Shapes() };
    knownNames.set(redactor, names);
  }
  return names;
}
