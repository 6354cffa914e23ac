// Indexes by the command line: made anew, taken out of one state directory and into another, with their exit codes.
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataIn, handrail } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

test("an index is rebuilt, exported and imported where only what differs is indexed", async () => {
  const place = freshPlace();
  place.put("workspace/src/okapi.ts", "export function okapi() {\n  return 1;\n}\n");
  place.put("workspace/docs/zebra.md", "# Zebra\n\nStripes.\n");
  const within = ["--workspace", place.workspace, "--json"];
  const status = await handrail(place, ["knowledge", "status", ...within]);
  expect(dataIn(status.stdout)).toEqual({ state: "building", files: 0, chunks: 0, files_left: 0 });
  const rebuilt = await handrail(place, ["knowledge", "rebuild", ...within]);
  expect(dataIn(rebuilt.stdout)).toEqual({ state: "ready", files: 2, chunks: 2, files_left: 0 });
  const file = join(place.workspace, "..", "shop.index");
  const exported = await handrail(place, ["knowledge", "export", file, ...within]);
  expect(dataIn(exported.stdout)).toMatchObject({ state: "ready", files: 2, chunks: 2 });
  const again = await handrail(place, ["knowledge", "export", file, ...within]);
  expect([again.code, again.stderr]).toEqual([64, expect.stringContaining("exists already")]);

  const other = freshPlace();
  other.put("workspace/src/okapi.ts", "export function okapi() {\n  return 1;\n}\n");
  other.put("workspace/docs/giraffe.md", "# Giraffe\n\nNeck.\n");
  const beside = ["--workspace", other.workspace, "--json"];
  const imported = await handrail(other, ["knowledge", "import", file, ...beside]);
  expect(dataIn(imported.stdout)).toEqual({ state: "ready", files: 2, chunks: 2, files_left: 0 });
  const call = await handrail(other, ["call", "search_knowledge", "query=stripes neck okapi", ...beside]);
  expect(call.stdout).toContain("giraffe.md");
  expect(call.stdout).toContain("okapi.ts");
  expect(call.stdout).not.toContain("zebra.md");
  const wrong = await handrail(other, ["knowledge", "import", other.put("workspace/words.txt", "words\n"), ...beside]);
  expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining("is no index")]);
  const kept = await handrail(other, ["knowledge", "status", ...beside]);
  expect(dataIn(kept.stdout)).toMatchObject({ files: 2, chunks: 2 });
});

test("an index is brought up to date and asked as an agent would ask it, and the ledger says what the operator did", async () => {
  const place = freshPlace();
  place.put("workspace/src/okapi.ts", "export function okapi() {\n  return 1;\n}\n");
  place.put("workspace/docs/zebra.md", "# Zebra\n\nStripes of the okapi.\n");
  const within = ["--workspace", place.workspace];
  const indexed = await handrail(place, ["knowledge", "index", ...within, "--json"]);
  expect(dataIn(indexed.stdout)).toEqual({ state: "ready", files: 2, chunks: 2, files_left: 0 });
  place.put("workspace/src/giraffe.ts", "export const giraffe = 'okapi';\n");
  const asked = await handrail(place, ["knowledge", "search", "okapi", "--glob", "*.ts", ...within, "--json"]);
  const { results, state } = dataIn(asked.stdout) as { results: { path: string }[]; state: string };
  expect([state, results.map(({ path }) => path).sort()]).toEqual(["ready", ["src/giraffe.ts", "src/okapi.ts"]]);
  const shown = await handrail(place, ["knowledge", "search", "okapi", "--limit", "1", ...within]);
  expect(shown.stdout).toContain("export function okapi()");
  const wrong = await handrail(place, ["knowledge", "search", "okapi", "--limit", "none", ...within]);
  expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining("--limit")]);
  const ledger = await handrail(place, ["ledger", "tail", "--count", "100", "--json"]);
  const events = ledger.stdout.match(/"knowledge_(?:begun|ended)"/g) ?? [];
  expect(events).toHaveLength(6);
});
