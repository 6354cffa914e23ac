/**
 * Finds the secrets of one call: a few long keywords, which hardly any text holds.
 *
 * An expression of the keywords tells that sooner than the automaton. INVARIANT: it finds exactly what the automaton
 * finds. Texts with null characters, between which keywords may stand letter by letter, are the automaton's, and so are
 * tables with many keywords.
 */

import { escapeExpression } from "../../text/escaped-expression.ts";
import type { Finding } from "./finding.ts";
import { scanText, type TriggerTable } from "./scan.ts";

/** Keywords that one expression tries at each character. */
const KEYWORDS_MAX = 16;

const expressions = new WeakMap<TriggerTable, RegExp>();

/** Everything found in `text`, appended to `found`. */
export function searchText(table: TriggerTable, text: string, found: Finding[]): void {
  if (table.triggers.length > KEYWORDS_MAX || text.includes("\0") || expressionOf(table).test(text))
    scanText(table, text, found);
}

function expressionOf(table: TriggerTable): RegExp {
  const kept = expressions.get(table);
  if (kept) return kept;
  const expression = new RegExp(table.triggers.map(({ keyword }) => escapeExpression(keyword)).join("|"), "i");
  expressions.set(table, expression);
  return expression;
}
