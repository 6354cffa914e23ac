// The page "Troubleshooting" names every code and every kind of rule that the code can answer with.
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";
import { parse, REASONS } from "../support/reasons.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(`${ROOT}docs/guide/troubleshooting.md`, "utf8");

/** First cells of the page's tables, one code each. */
const coded = new Set([...page.matchAll(/^\| `([A-Za-z0-9_]+)` \|/gm)].map(([, code]) => code));
const rules = new Set([...(page.split("## Rules")[1] ?? "").matchAll(/`([A-Z_]+[:-])`/g)].map(([, start]) => start));

function failuresInCode(): readonly string[] {
  const found: string[] = [];
  ts.forEachChild(parse("src/model/outcome/failure.ts"), (node) => {
    if (ts.isTypeAliasDeclaration(node) && node.name.text === "ToolFailureCode" && ts.isUnionTypeNode(node.type))
      for (const each of node.type.types)
        if (ts.isLiteralTypeNode(each) && ts.isStringLiteral(each.literal)) found.push(each.literal.text);
  });
  return found;
}

function rulesInCode(): readonly string[] {
  const sources = globSync("src/**/*.ts", { cwd: ROOT }).map((path) => readFileSync(`${ROOT}${path}`, "utf8"));
  const found = sources.flatMap((text) => [...text.matchAll(/\bruleId(?:: | = )["`]([A-Z_]+[:-])/g)]);
  return [...new Set(found.map(([, start]) => start ?? ""))];
}

test("every failure has its row", () => {
  const failures = failuresInCode();
  expect(failures.length).toBeGreaterThan(30);
  expect(failures.filter((code) => !coded.has(code))).toEqual([]);
});

test("every reason has its row, also those of the shipped policies", () => {
  expect(REASONS.filter((reason) => !coded.has(reason))).toEqual([]);
});

test("every kind of rule is explained", () => {
  const inCode = rulesInCode();
  expect(inCode).toEqual(expect.arrayContaining(["ZONE:", "INV-", "RBAC:", "FC-", "LEASE:"]));
  expect(inCode.filter((start) => !rules.has(start))).toEqual([]);
  // the control: a kind that nobody explains is found
  expect(rules.has("NOTHING:")).toBe(false);
});
