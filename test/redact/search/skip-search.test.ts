// Leaping over the text finds what reading all of it finds.
import fc from "fast-check";
import { expect, test } from "vitest";
import { knownTriggers } from "../../../src/redact/kinds/known-secret.ts";
import { type Finding, mergeFindings } from "../../../src/redact/search/finding.ts";
import { buildTable, scanText } from "../../../src/redact/search/scan.ts";
import { searchText } from "../../../src/redact/search/skip-search.ts";

const SECRETS = ["ses_abcABC0123.zyxwv", "aaaaaaaaaaaaaaab", "Kx7/+pass phrase&é="];
const tables = [false, true].map((long) => buildTable(SECRETS.flatMap((value) => knownTriggers({ rule: "session-token", value }, long))));
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
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
      (text) => {
        const [leaping, reading]: [Finding[], Finding[]] = [[], []];
        searchText(table, text, leaping);
        scanText(table, text, reading);
        expect(mergeFindings(leaping)).toEqual(mergeFindings(reading));
      },
    ),
    { numRuns: 2000 },
  );
});
