// Writes the rules of docs/reference/secrets.md, between its two markers, from the rules of the redactor. Run it after
// changing a rule: `node scripts/secret-reference.mjs`. `test/docs/secrets.test.ts` says when it has to be run.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PAGE = fileURLToPath(new URL("../docs/reference/secrets.md", import.meta.url));

/**
 * What the page says of a rule; what is found in blocks is definite.
 * @typedef {{ readonly id: string, readonly kind?: string, readonly title: string }} Shown
 */

/**
 * The rules that are built in, by class.
 * @returns {Promise<[string, readonly Shown[]][]>}
 */
export async function shownRules() {
  const { FORMAT_CLASSES } = await import("../src/redact/rules/all.ts");
  const { BUILT_IN_RULES } = await import("../src/redact/rule-set.ts");
  const classes = Object.entries(FORMAT_CLASSES);
  const listed = new Set(classes.flatMap(([, rules]) => rules.map(({ id }) => id)));
  const others = BUILT_IN_RULES.filter(({ id }) => !listed.has(id));
  return [...classes, ["Names, blocks of keys, and tokens without a name", others]];
}

/**
 * The rules as Markdown: a table of the classes, and one for each of them.
 * @param {readonly (readonly [string, readonly Shown[]])[]} classes
 */
export function secretReference(classes) {
  const count = (/** @type {readonly Shown[]} */ rules) => rules.length;
  const definite = (/** @type {readonly Shown[]} */ rules) =>
    rules.filter((rule) => kindOf(rule) === "definite").length;
  const all = classes.flatMap(([, rules]) => rules);
  const rows = classes.map(([title, rules]) => `| ${title} | ${count(rules)} | ${definite(rules)} |`);
  return [
    `| class | rules | of those, definite |\n|---|---|---|`,
    ...rows,
    `| all | ${count(all)} | ${definite(all)} |`,
    ...classes.flatMap(([title, rules]) => [
      "",
      `## ${title}`,
      "",
      "| rule | kind | what it finds |",
      "|---|---|---|",
      ...rules.map(ruleRow),
    ]),
  ].join("\n");
}

/** @param {Shown} rule */
function kindOf({ kind = "definite" }) {
  return kind;
}

/** @param {Shown} rule */
function ruleRow({ id, title, kind }) {
  return `| \`${id}\` | ${kindOf({ id, title, ...(kind && { kind }) })} | ${title.replaceAll("|", "\\|")} |`;
}

/**
 * The page with `reference` between its markers.
 * @param {string} page
 * @param {string} reference
 */
export function withReference(page, reference) {
  const marked = /(<!-- rules: begin[^>]*-->\n)[\s\S]*?(<!-- rules: end -->)/;
  if (!marked.test(page)) throw new Error("docs/reference/secrets.md has lost its markers");
  return page.replace(marked, (_, begin, end) => `${begin}\n${reference}\n\n${end}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PAGE, withReference(readFileSync(PAGE, "utf8"), secretReference(await shownRules())));
}
