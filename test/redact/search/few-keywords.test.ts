// Looking for a few keywords by an expression finds what the automaton finds.
import fc from "fast-check";
import { expect, test } from "vitest";
import { knownTriggers } from "../../../src/redact/kinds/known-secret.ts";
import { searchText } from "../../../src/redact/search/few-keywords.ts";
import { type Finding, mergeFindings } from "../../../src/redact/search/finding.ts";
import { buildTable, scanText } from "../../../src/redact/search/scan.ts";

const SECRETS = ["ses_abcABC0123.zyxwv", "aaaaaaaaaaaaaaab", "Kx7/+pass phrase&é="];
const tableOf = (values: readonly string[], long: boolean) =>
  buildTable(values.flatMap((value) => knownTriggers({ rule: "session-token", value }, long)));
/** Of all secrets, which are many keywords, and of each alone, which are few. */
const tables = [false, true].flatMap((long) =>
  [SECRETS, ...SECRETS.map((value) => [value])].map((values) => tableOf(values, long)),
);
const forms = SECRETS.flatMap((value) => [
  value,
  Buffer.from(value).toString("base64"),
  Buffer.from(value).toString("hex"),
  encodeURIComponent(value),
]);

test.each(tables)("both find the same", (table) => {
  const part = fc.oneof(
    fc.constantFrom(...forms),
    fc.constantFrom("a", "aaaaaaaa", "\0", " ", "ses_", "é", "0123", "ses_abcABC0123.zyxw", "x".repeat(30)),
    fc.constantFrom(...forms).map((form) => form.slice(0, -1)),
    fc.constantFrom(...forms).map((form) => form.toUpperCase()),
    fc.constantFrom(...forms).map((form) => [...form].join("\0")),
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
      (text) => {
        const [quick, reading]: [Finding[], Finding[]] = [[], []];
        searchText(table, text, quick);
        scanText(table, text, reading);
        expect(mergeFindings(quick)).toEqual(mergeFindings(reading));
      },
    ),
    { numRuns: 1000 },
  );
});
