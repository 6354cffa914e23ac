/** What nobody may be told by asking questions: secrets, files that the session may not read, what was closed since. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { UNRESTRICTED_SCOPE } from "../../../../../src/model/people/lease.ts";
import { filesWith, isToldIn } from "../../../../support/canary.ts";
import { ask, openKnowledge, pathsOf } from "../../../../support/knowledge-place.ts";
import { freshPlace } from "../../../../support/place.ts";

const TOKEN = "ghp_okapiZebraGiraffe0123456789abcdefABC";

test("a secret in a file is neither in the index nor in an answer, and cannot be asked for; without one it is found", async () => {
  const place = freshPlace();
  place.put("workspace/src/deploy.ts", `// deploys the antelope\nconst token = "${TOKEN}";\nexport const after = 1;\n`);
  place.put("workspace/src/plain.ts", "// no secret: okapizebragiraffe\nexport const other = 2;\n");
  const { until, session, indexDirectory, close } = await openKnowledge(place);
  const answer = await until("antelope", ({ state }) => state === "ready");
  expect(pathsOf(answer)).toContain("src/deploy.ts");
  expect(answer.results.find(({ path }) => path === "src/deploy.ts")?.text).toContain("[REDACTED:");
  expect(isToldIn(answer, [TOKEN])).toBe(false);
  expect(pathsOf(await ask(session, { query: TOKEN }))).not.toContain("src/deploy.ts");
  // control: the same letters are found where they are no secret
  expect(pathsOf(await ask(session, { query: "okapizebragiraffe" }))).toEqual(["src/plain.ts"]);
  const directory = indexDirectory();
  await close();
  expect(filesWith(directory, [TOKEN, TOKEN.toLowerCase(), "0123456789abcdef"])).toEqual([]);
});

test("a secret of several lines leaves what follows in its lines", async () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(8)}-----END PRIVATE KEY-----`;
  const place = freshPlace();
  place.put("workspace/notes.md", `# Key\n\n${key}\n\n# Giraffe\n\nstands here\n`);
  const { until } = await openKnowledge(place);
  const answer = await until("giraffe", ({ state }) => state === "ready");
  expect(answer.results[0]).toMatchObject({ first_line: 14, last_line: 16, text: "# Giraffe\n\nstands here" });
});

test("a part that begins within a secret shows nothing of it; the same lines without its beginning are shown", async () => {
  const lines = Array.from({ length: 70 }, (_, index) => `zebrastripesandleavesofthetrees${index}`);
  const place = freshPlace();
  const end = "-----END PRIVATE KEY-----\nthe giraffe stands here\n";
  place.put("workspace/key.txt", `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n${end}`);
  place.put("workspace/plain.txt", `${lines.join("\n")}\nthe okapi stands here\n`);
  const { until, other } = await openKnowledge(place);
  const answer = await until("giraffe", ({ state }) => state === "ready");
  expect(answer.results[0]).toMatchObject({ path: "key.txt", text: expect.stringContaining("giraffe") });
  expect(answer.results[0]?.text).not.toContain("zebrastripes");
  // control: lines are shown that belong to no secret, to a session that has not met them as one
  expect((await ask(await other({}), { query: "okapi" })).results[0]?.text).toContain("zebrastripes");
});

test("secret files, ignored ones, managed ones and what links lead to are not found; a plain copy is", async () => {
  const place = freshPlace();
  for (const path of [
    ".env",
    "secrets/key.md",
    "node_modules/okapi/readme.md",
    ".git/okapi",
    "ignored/okapi.md",
    "plain.md",
  ])
    place.put(`workspace/${path}`, "okapi lives here\n");
  place.put("workspace/.gitignore", "ignored/\n");
  place.put("outside/okapi.md", "okapi lives outside\n");
  symlinkSync(join(place.outside, "okapi.md"), join(place.workspace, "link.md"));
  symlinkSync(join(place.workspace, "secrets"), join(place.workspace, "opened"));
  const { until, session } = await openKnowledge(place);
  const answer = await until("okapi", ({ state }) => state === "ready");
  expect(pathsOf(answer)).toEqual(["plain.md"]);
  for (const path of ["secrets", "opened", "../outside"]) {
    const { result } = await session.call("search_knowledge", { query: "okapi", path });
    expect([path, result.status === "success" ? (result.data["results"] as unknown[]).length : result.status]).toEqual([
      path,
      path === "opened" ? 0 : "error",
    ]);
  }
});

test("a lease that leaves some files to a session leaves it only their parts; another one is answered with all", async () => {
  const place = freshPlace();
  place.put("workspace/docs/okapi.md", "okapi in documents\n");
  place.put("workspace/src/okapi.ts", "// okapi in sources\n");
  const { until, other } = await openKnowledge(place);
  const all = await until("okapi", ({ state }) => state === "ready");
  expect([...pathsOf(all)].sort()).toEqual(["docs/okapi.md", "src/okapi.ts"]);
  const narrow = await other({ scope: { ...UNRESTRICTED_SCOPE, readPaths: [["docs", "docs/**"]] } });
  expect(pathsOf(await ask(narrow, { query: "okapi", path: "docs" }))).toEqual(["docs/okapi.md"]);
  const { result } = await narrow.call("search_knowledge", { query: "okapi" });
  expect(result.status === "success" ? pathsOf(result.data as never) : []).not.toContain("src/okapi.ts");
});

test("what the operator closes is gone from answers at once, though it was indexed", async () => {
  const place = freshPlace();
  place.put("workspace/plans/okapi.md", "okapi plans\n");
  place.put("workspace/docs/okapi.md", "okapi documents\n");
  const { until, session } = await openKnowledge(place);
  expect(pathsOf(await until("okapi", ({ state }) => state === "ready"))).toHaveLength(2);
  place.put("config/handrail.yaml", "files:\n  secret: [plans/**]\n");
  await expect
    .poll(async () => pathsOf(await ask(session, { query: "okapi" })), { timeout: 60_000 })
    .toEqual(["docs/okapi.md"]);
});

test.each(['"', "*", "okapi OR", "NEAR(a b)", "okapi\u0000b", "{symbols}: a", "(((", "-", "^"])(
  "the question %j is words and no language of queries",
  async (query) => {
    const place = freshPlace();
    place.put("workspace/okapi.md", "okapi\n");
    const { until, session } = await openKnowledge(place);
    await until("okapi", ({ state }) => state === "ready");
    const answer = await ask(session, { query });
    expect(answer.results.length).toBe(query.includes("okapi") ? 1 : 0);
  },
);

test("an answer is labelled as reading its files is", async () => {
  const place = freshPlace();
  place.put("workspace/src/deploy.ts", `// deploys the antelope\nconst token = "${TOKEN}";\n`);
  place.put("workspace/docs/plain.md", "the okapi eats leaves\n");
  const { until, session } = await openKnowledge(place);
  await until("okapi", ({ state }) => state === "ready");
  const labelOf = async (tool: string, args: JsonObject) => {
    const { result } = await session.call(tool, args);
    if (result.status !== "success") throw new Error(JSON.stringify(result));
    const { trustLevel, dataClass } = result.metadata.label ?? {};
    return { trustLevel, dataClass };
  };
  // The plain one first: what a session has seen stays with it.
  const plain = await labelOf("search_knowledge", { query: "okapi" });
  expect(plain).toEqual(await labelOf("read_file", { path: "docs/plain.md" }));
  const withSecret = await labelOf("search_knowledge", { query: "antelope" });
  expect(withSecret).toEqual(await labelOf("read_file", { path: "src/deploy.ts" }));
  expect(withSecret).not.toEqual(plain);
});
