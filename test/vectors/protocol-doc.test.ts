/**
 * docs/reference/protocol.md says what the code does: fields, limits and invariants of the table, tags, reason codes.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { file_handrail_tool_v1_tool } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { CONSTRAINTS, type FieldConstraint, GIT_OPERATIONS } from "../../src/model/outcome/constraints.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const DOCUMENT = readFileSync(join(ROOT, "docs", "reference", "protocol.md"), "utf8");

/** Cells of the table row that begins with `name`. */
function rowOf(name: string): string {
  const rows = DOCUMENT.split("\n").filter((line) => line.startsWith(`| \`${name}\` |`));
  expect(rows, name).toHaveLength(1);
  return rows[0] ?? "";
}

/** The limits of a constraint as the document writes them. */
function limitsOf(constraint: FieldConstraint): string[] {
  switch (constraint.kind) {
    case "text":
      return [`\`${constraint.rule}\` ${constraint.max} ${constraint.unit}`];
    case "path":
      return ["path"];
    case "bytes":
      return [`\`max_size\` ${constraint.max} bytes`];
    case "hash":
      return [`\`hash_size\` ${constraint.size} bytes${constraint.required ? "" : " or empty"}`];
    case "integer":
      return [`\`max_value\` ${constraint.max}`];
    case "list":
      return [
        `\`max_items\` ${constraint.itemsMax}; entries \`max_length\` ${constraint.entryBytesMax} bytes`,
        ...(constraint.pairs ? ["one `=`"] : []),
      ];
    case "word":
      return ["`required`", "`known_operation`"];
  }
}

test.each(Object.entries(CONSTRAINTS) as [string, FieldConstraint][])(
  "%s is documented with its limits and invariants",
  (field, constraint) => {
    const row = rowOf(field);
    for (const limit of limitsOf(constraint)) expect(row).toContain(limit);
    for (const invariant of Object.values(constraint.invariants)) expect(row).toContain(invariant);
    if ("required" in constraint && constraint.kind !== "hash")
      expect(row.includes("`required`")).toBe(constraint.required);
  },
);

test("every operation and every added tag is documented", () => {
  for (const operation of GIT_OPERATIONS) expect(DOCUMENT).toContain(`\`${operation}\``);
  for (const message of file_handrail_tool_v1_tool.messages) {
    for (const field of message.fields) {
      if (field.number >= 100) expect(rowOf(message.name)).toContain(`\`${field.name} = ${field.number}\``);
    }
  }
});

test("every documented reason is one that the code gives", () => {
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => readFileSync(join(ROOT, "src", name), "utf8"))
    .join("\n");
  const from = DOCUMENT.indexOf("| layer | reasons |");
  const table = DOCUMENT.slice(from, DOCUMENT.indexOf("\n## ", from));
  const reasons = [...table.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)]
    .map(([, reason]) => reason ?? "")
    .filter((reason) => !["retry_after_ms", "error_code", "rule_id"].includes(reason));
  expect(reasons.length).toBeGreaterThan(20);
  expect(reasons.filter((reason) => !sources.includes(`"${reason}"`))).toEqual([]);
});
