/** What happens to an index while it is made: a killed process, vanishing files, damage, files of other kinds. */

import { once } from "node:events";
import { closeSync, openSync, readdirSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { defaultSettings } from "../../../../src/config/config.ts";
import { createRedactor, type Redactor } from "../../../../src/redact/redact.ts";
import { WorkspaceKnowledge } from "../../../../src/server/knowledge/workspace-knowledge.ts";
import { createWorkspaceCatalog } from "../../../../src/server/workspace/workspace-catalog.ts";
import { dataIn, handrail, startHandrail } from "../../../support/command-line.ts";
import { ask, openKnowledge, pathsOf } from "../../../support/knowledge-place.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const FILES = 3000;

function databaseOf(place: Place): string {
  const [name = ""] = readdirSync(join(place.state, "knowledge"));
  return join(place.state, "knowledge", name, "index.db");
}

/** The files of the index, with what names each row. */
function rowsOf(place: Place): ReadonlyMap<string, number> {
  const database = new Sqlite(databaseOf(place), { readonly: true });
  try {
    const rows = database.prepare<[], { path: string; id: number }>("SELECT path, id FROM files").all();
    return new Map(rows.map(({ path, id }) => [path, id]));
  } finally {
    database.close();
  }
}

async function untilBegun(place: Place): Promise<void> {
  for (;;) {
    try {
      if (rowsOf(place).size > 0) return;
    } catch {
      // it is not made yet
    }
    await sleep(10);
  }
}

test("a process that is killed while it indexes leaves whole files, with which the next one goes on", {
  timeout: 300_000,
}, async () => {
  const place = freshPlace();
  for (let index = 0; index < FILES; index += 1)
    place.put(`workspace/src/part${index}.ts`, `export function okapi${index}() {\n  return ${index};\n}\n`.repeat(20));
  const within = ["--workspace", place.workspace, "--json"];
  const killed = startHandrail(place, ["knowledge", "index", ...within]);
  await untilBegun(place);
  killed.kill("SIGKILL");
  await once(killed, "close");
  const left = rowsOf(place);
  expect(left.size).toBeGreaterThan(0);
  expect(left.size).toBeLessThan(FILES);
  const status = await handrail(place, ["knowledge", "status", ...within]);
  expect(dataIn(status.stdout)).toMatchObject({ state: "building", files: left.size });
  const indexed = await handrail(place, ["knowledge", "index", ...within]);
  expect([dataIn(indexed.stdout), indexed.stderr]).toEqual([
    expect.objectContaining({ state: "ready", files: FILES }),
    expect.not.stringContaining("anew"),
  ]);
  const after = rowsOf(place);
  // What was there was not indexed again.
  expect([...left].filter(([path, id]) => after.get(path) !== id)).toEqual([]);
});

/** Knowledge whose redactor does something else before it looks at the first file. */
async function knowledgeWith(place: Place, before: () => void): Promise<WorkspaceKnowledge> {
  const catalog = createWorkspaceCatalog(() => ({ settings: defaultSettings(), trusted: [] }), []);
  onTestFinished(() => catalog.close());
  const real = await createRedactor();
  let hasDone = false;
  const redactor = {
    digest: (key: Uint8Array) => real.digest(key),
    shownPath: (path: string) => real.shownPath(path),
    redactBytes(bytes: Uint8Array, others: never) {
      if (!hasDone) before();
      hasDone = true;
      return real.redactBytes(bytes, others);
    },
  } as unknown as Redactor;
  const knowledge = new WorkspaceKnowledge(
    {
      directory: join(place.state, "index"),
      redactor: () => redactor,
      key: new Uint8Array(32),
      tell: () => undefined,
      onInternalError(error) {
        throw error;
      },
    },
    await catalog.open({ serviceRoot: place.workspace, projectRoot: place.workspace }),
  );
  onTestFinished(() => knowledge.close());
  return knowledge;
}

test("files that vanish, or become directories, while others are indexed are left out", async () => {
  const place = freshPlace();
  for (const name of ["a", "b", "c", "d"]) place.put(`workspace/src/${name}.md`, `okapi ${name}\n`);
  const knowledge = await knowledgeWith(place, () => {
    rmSync(join(place.workspace, "src/b.md"));
    rmSync(join(place.workspace, "src/c.md"));
    place.put("workspace/src/c.md/inside.txt", "okapi inside\n");
  });
  await knowledge.update();
  expect(knowledge.state).toMatchObject({ state: "ready", filesIndexed: 2 });
  await knowledge.update();
  const later = await knowledge.find(["okapi"], 10);
  expect(later.map(({ path }) => path).sort()).toEqual(["src/a.md", "src/c.md/inside.txt", "src/d.md"]);
});

test.each([
  ["pages", damage],
  ["the full-text index", damageTerms],
])(
  "damage to %s, which shows only where it is read, makes the index anew, and the operator is told",
  async (_, damaged) => {
    const place = freshPlace();
    for (let index = 0; index < 200; index += 1) place.put(`workspace/docs/part${index}.md`, `okapi zebra${index}\n`);
    const first = await openKnowledge(place);
    await first.until("okapi", ({ state }) => state === "ready");
    await first.close();
    damaged(databaseOf(place));
    const second = await openKnowledge(place);
    const answer = await second.until("zebra7", ({ state, results }) => state === "ready" && results.length > 0);
    expect(pathsOf(answer)).toContain("docs/part7.md");
    expect(second.told.join("\n")).toContain("made anew");
  },
);

/** Takes away what the full-text index consists of: everything else can still be read. */
function damageTerms(file: string): void {
  const database = new Sqlite(file);
  database.unsafeMode().exec("DELETE FROM terms_data WHERE id > 10");
  database.close();
}

/** Overwrites everything but the first page, by which a database is known, and the schema in it. */
function damage(file: string): void {
  const { size } = statSync(file);
  const descriptor = openSync(file, "r+");
  try {
    writeSync(descriptor, Buffer.alloc(size - 4096, 0xa5), 0, size - 4096, 4096);
  } finally {
    closeSync(descriptor);
  }
}

test("a file in Latin-1 is found by its plain words; UTF-16, null bytes and binary files disturb nobody", async () => {
  const place = freshPlace();
  place.put("workspace/plain.md", "okapi plain\n");
  writeFileSync(join(place.workspace, "latin.txt"), Buffer.from("okapi caf\u00e9\n", "latin1"));
  writeFileSync(join(place.workspace, "wide.txt"), Buffer.from("\ufeffokapi wide\n", "utf16le"));
  writeFileSync(join(place.workspace, "nulls.txt"), "okapi \0 nulls\n");
  writeFileSync(join(place.workspace, "late.txt"), `okapi ${"word ".repeat(2000)}\0 end\n`);
  writeFileSync(join(place.workspace, "bytes.bin"), Buffer.alloc(5000, 0xff));
  const { until } = await openKnowledge(place);
  const answer = await until("okapi", ({ state }) => state === "ready");
  expect([...pathsOf(answer)].sort()).toEqual(["late.txt", "latin.txt", "plain.md"]);
  const latin = answer.results.find(({ path }) => path === "latin.txt");
  expect(latin?.text).toBe("okapi caf\ufffd");
});

test("a minified bundle and generated code are indexed within bounds, and an answer keeps to its tokens", async () => {
  const place = freshPlace();
  place.put("workspace/src/okapi.ts", "// the okapi eats leaves\nexport function okapi() {\n  return 1;\n}\n");
  place.put("workspace/dist/app.min.js", `var okapi=1;${"function a(b){return b+okapi}".repeat(30_000)}`);
  place.put("workspace/gen/table.ts", `${"export const okapi = [1, 2, 3];\n".repeat(25_000)}`);
  place.put("workspace/dist/large.js", "okapi ".repeat(400_000));
  place.put("workspace/deep.json", `${"[".repeat(50_000)}"okapi"${"]".repeat(50_000)}`);
  const { until, session } = await openKnowledge(place);
  const answer = await until("okapi leaves", ({ state }) => state === "ready");
  expect(pathsOf(answer)[0]).toBe("src/okapi.ts");
  const all = await ask(session, { query: "okapi", limit: 50, max_tokens: 8000 });
  expect(pathsOf(all)).not.toContain("dist/large.js");
  const small = await ask(session, { query: "okapi", path: "dist", max_tokens: 100 });
  expect(JSON.stringify(small).length).toBeLessThan(1000);
  expect(small.results).toMatchObject([{ path: "dist/app.min.js", cut: expect.any(Number) }]);
  expect(small).toMatchObject({ truncated: true });
});
