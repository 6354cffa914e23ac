/** `diagnostics`: the errors and warnings that language servers find in files. */
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { CodeDiagnostic } from "../../model/place/code.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { pathArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { TokenBudget, tokensArgument } from "./kit/token-budget.ts";

const FILES_MAX = 32;
const TOKENS_DEFAULT = 2000;
const SEVERITIES = ["error", "warning", "information", "hint"] as const satisfies readonly CodeDiagnostic["severity"][];

const parameters = z.strictObject({
  paths: z.array(pathArgument("A source file.")).min(1).max(FILES_MAX).meta({ description: "Files to look at." }),
  severity: z.enum(SEVERITIES).optional().meta({ description: "The least that is told. Default `warning`." }),
  max_tokens: tokensArgument(TOKENS_DEFAULT),
});

type Arguments = z.infer<typeof parameters>;

/** The tool `diagnostics`. */
export const diagnostics: Tool<Arguments> = {
  name: "diagnostics",
  title: "Errors and warnings of files",
  description:
    "Says what is wrong in source files, by the project's own language server (TypeScript's, Pyright, gopls, rust-analyzer) as they are now: type errors, unknown names, syntax. Errors come first. It runs no tests and no linter.",
  parameters,
  outputSchema: objectOf({
    counts: {
      description: "All that was found, by severity.",
      type: "object",
      additionalProperties: { type: "integer" },
    },
    diagnostics: listOf(
      objectOf(
        {
          path: text(),
          line: integer(),
          column: integer(),
          severity: text(SEVERITIES.map((each) => `\`${each}\``).join(", ")),
          code: text(),
          message: text(),
        },
        ["code"],
      ),
    ),
    looked: listOf(objectOf({ path: text(), server: text("The language server that knew.") })),
    not_looked: listOf(objectOf({ path: text(), why: text(), message: text("What could be done.") })),
    left_out: objectOf({
      diagnostics: integer("For which `max_tokens` had no room."),
      less_severe: integer("Below `severity`."),
    }),
    truncated: flag("There is more."),
  }),
  // What a server says, the project's code may have written.
  capability: { ...READS, labels: { outputTrust: "user", outputDataClass: "internal" } },
  analyse: ({ paths }) => [...new Set(paths)].map((path) => ({ resource: { kind: "file", path }, effect: "read" })),
  async execute({ paths, severity = "warning", max_tokens: tokens = TOKENS_DEFAULT }, { code }) {
    const found = await code.diagnostics([...new Set(paths)]);
    const counts = Object.fromEntries(
      SEVERITIES.map((each) => [each, found.diagnostics.filter((one) => one.severity === each).length] as const).filter(
        ([, count]) => count > 0,
      ),
    );
    const wanted = found.diagnostics
      .filter((one) => rankOf(one) <= SEVERITIES.indexOf(severity))
      .toSorted((one, two) => rankOf(one) - rankOf(two))
      .map((one): JsonObject => ({ ...one }));
    const looked = found.looked.map((each) => ({ ...each }));
    const notLooked = found.unserved.map(({ path, why, message }) => ({ path, why, message }));
    const budget = new TokenBudget(tokens);
    budget.spend([counts, looked, notLooked]);
    const { shown, leftOut } = budget.fit(wanted);
    const truncated = leftOut > 0 || notLooked.length > 0;
    const data = {
      counts,
      diagnostics: [...shown],
      looked,
      not_looked: notLooked,
      left_out: { diagnostics: leftOut, less_severe: found.diagnostics.length - wanted.length },
      truncated,
    };
    return { kind: "data", data, ...(truncated && { truncated }) };
  },
  toText: diagnosticsText,
};

function rankOf({ severity }: CodeDiagnostic): number {
  return SEVERITIES.indexOf(severity);
}

function diagnosticsText(data: JsonObject): string {
  const lines = objectsOf(data["diagnostics"]).map(
    ({ path, line, column, severity, code, message }) =>
      `${nameText(path)}:${String(line)}:${String(column)} ${String(severity)}${code === undefined ? "" : ` ${nameText(code)}`}: ${nameText(message)}`,
  );
  const notLooked = objectsOf(data["not_looked"]).map(
    ({ path, message }) => `${nameText(path)} was not looked at: ${nameText(message)}`,
  );
  const looked = objectsOf(data["looked"]);
  const servers = [...new Set(looked.map(({ server }) => nameText(server)))].join(", ");
  const leftOut = isJsonObject(data["left_out"]) ? data["left_out"] : {};
  const more = [
    ...(leftOut["diagnostics"] === 0 ? [] : [`${String(leftOut["diagnostics"])} left out: raise \`max_tokens\``]),
    ...(leftOut["less_severe"] === 0 ? [] : [`${String(leftOut["less_severe"])} less severe: name \`severity\``]),
  ].map((each) => `; ${each}`);
  const counts = isJsonObject(data["counts"]) ? Object.entries(data["counts"]) : [];
  const sum = counts.map(([severity, count]) => countText(count, severity)).join(", ");
  const by = servers === "" ? "" : ` by ${servers}`;
  return [
    ...lines,
    ...notLooked,
    `[${countText(looked.length, "file")} looked at${by}: ${sum === "" ? "nothing found" : sum}${more.join("")}]`,
  ].join("\n");
}
