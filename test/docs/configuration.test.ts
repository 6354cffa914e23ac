/** docs/reference/configuration.md lists every key of `handrail.yaml` with its values and its default, and no other. */
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { defaultSettings, parseSettings, settingsSchema, workspaceSettingsSchema } from "../../src/config/config.ts";
import { blocksOf, readPage } from "./pages.ts";
import { type SettingsKey, settingsKeys } from "./settings-keys.ts";

const page = readPage("docs/reference/configuration.md").text;
const [operators = "", workspaces = ""] = page.split("## What a workspace's own file may say");

/** Cells of each table row that begins with a key. */
function rowsOf(text: string): ReadonlyMap<string, readonly string[]> {
  const rows = [...text.matchAll(/^\| `([^`]+)` \|(.*)\|$/gm)];
  return new Map(rows.map(([, key = "", rest = ""]) => [key, rest.split("|").map((cell) => cell.trim())]));
}

/** Keys that hold a value: sections are headings. */
function leavesOf(schema: z.ZodType): readonly SettingsKey[] {
  const all = settingsKeys(schema);
  return all.filter(
    ({ key }) => !all.some((other) => [".", "["].some((next) => other.key.startsWith(`${key}${next}`))),
  );
}

/** The default that the schema knows, or else what an operator has who wrote nothing. */
function defaultOf({ key, defaultValue }: SettingsKey): string {
  const parsed = key
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], defaultSettings());
  const value = defaultValue ?? (parsed === undefined ? undefined : JSON.stringify(parsed));
  return value === undefined ? "–" : `\`${value}\``;
}

/** What of a key the page does not say. */
function missing(key: SettingsKey, rows: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const [values = "", standard = ""] = rows.get(key.key) ?? [];
  if (!rows.has(key.key)) return [`no row for \`${key.key}\``];
  const named = new Set(values.split(/[`, ]+/));
  const lacking = key.values.filter((value) => !named.has(value) && !value.includes(String(Number.MAX_SAFE_INTEGER)));
  const wrongDefault = standard === defaultOf(key) ? [] : [`\`${key.key}\` has the default ${defaultOf(key)}`];
  return [...lacking.map((value) => `\`${key.key}\` does not name ${value}`), ...wrongDefault];
}

const keys = leavesOf(settingsSchema);

describe("the operator's keys", () => {
  test("stand on the page with their values and defaults", () => {
    expect(keys.length).toBeGreaterThan(100);
    expect(keys.flatMap((key) => missing(key, rowsOf(operators)))).toEqual([]);
  });

  test("are the only ones on the page", () => {
    const known = new Set(keys.map(({ key }) => key));
    expect([...rowsOf(operators).keys()].filter((key) => !known.has(key))).toEqual([]);
  });

  test("that are missing, have another default or another bound are noticed", () => {
    const rows = new Map(rowsOf(operators));
    expect(rows.delete("sandbox.memory_mb")).toBe(true);
    rows.set("alert.freeze", ["boolean", "`false`", ""]);
    rows.set("approvals.wait_seconds", ["0 to 60", "–", ""]);
    expect(keys.flatMap((key) => missing(key, rows)).sort()).toEqual([
      "`alert.freeze` has the default `true`",
      "`approvals.wait_seconds` does not name 45",
      "no row for `sandbox.memory_mb`",
    ]);
  });
});

test("a workspace's keys stand on the page, and no other", () => {
  const known = leavesOf(workspaceSettingsSchema).map(({ key }) => key);
  expect([...rowsOf(workspaces).keys()].sort()).toEqual([...known].sort());
});

test("the example is valid", async () => {
  const [example] = blocksOf(page);
  expect(await parseSettings(example?.text ?? "", "handrail.yaml")).toMatchObject({ sandbox: { memory_mb: 2048 } });
});
