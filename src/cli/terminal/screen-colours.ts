/**
 * Decides whether a stream gets colours, and lays out rows for its width.
 *
 * Only a terminal gets them, unless it is a dumb one or `NO_COLOR` is set.
 */

import type { PromptLine } from "../../model/approval/prompt-lines.ts";
import { ansi, PROMPT_COLUMNS_DEFAULT, promptRows } from "../../model/approval/prompt-rows.ts";

/** As much of a terminal's stream as matters here. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Whether colours may be used on `screen`. */
export function wantsColours(screen: Screen, environment: Readonly<Record<string, string | undefined>>): boolean {
  return screen.isTTY === true && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
}

/** The rows of `lines` for `screen`. */
export function rowsFor(lines: readonly PromptLine[], screen: Screen, colours: boolean): readonly string[] {
  const rows = promptRows(lines, screen.columns ?? PROMPT_COLUMNS_DEFAULT);
  return rows.map((row) => (colours ? ansi(row) : row.text));
}
