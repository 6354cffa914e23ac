/**
 * Handrail as a library: an allowed read and a refused one, a tool of one's own, a call that is executed once, stored
 * content, and the evidence of all. Exits non-zero if it is not so.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, defineTool, ToolExecutor } from "handrail";
import { z } from "zod";

const place = mkdtempSync(join(tmpdir(), "handrail-library-"));
const workspace = join(place, "workspace");
const operator = join(place, "operator");
for (const directory of [workspace, operator, join(operator, "policy")]) mkdirSync(directory, { mode: 0o700 });
writeFileSync(join(workspace, "notes.md"), "# Notes\n\none two three\n");
writeFileSync(join(workspace, ".env"), "TOKEN=secret\n");
// The presets allow what Handrail brings along; a tool from outside needs a permit of the operator.
writeFileSync(
  join(operator, "policy", "own.cedar"),
  `@id("own.word-count")
@message("words may be counted in the workspace")
permit (principal, action == Handrail::Action::"word_count", resource is Handrail::File);
`,
  { mode: 0o600 },
);

const wordCount = defineTool({
  name: "word_count",
  title: "Count words",
  description: "Counts the words of a file.",
  parameters: z.strictObject({ path: z.string() }),
  capability: { effect: "read", risk: "low", approval: { level: "auto" }, labels: { outputTrust: "verified" } },
  analyse: ({ path }) => [{ resource: { kind: "file", path }, effect: "read" }],
  async execute({ path }, { files }) {
    const { bytes } = await files.read(path, { bytesMax: 100_000 });
    return { kind: "data", data: { words: Buffer.from(bytes).toString().split(/\s+/).filter(Boolean).length } };
  },
});

{
  await using kernel = await createKernel({
    stateDirectory: join(place, "state"),
    configDirectory: operator,
    tools: [wordCount],
  });
  await using session = await kernel.openSession({ workspace, role: "dev" });

  const allowed = await session.call("read_file", { path: "notes.md" });
  assert.equal(allowed.result.status, "success");
  console.log("read notes.md:", JSON.stringify(allowed.result.status === "success" && allowed.result.data));

  const denied = await session.call("read_file", { path: ".env" });
  assert.equal(denied.response.outcome.kind, "denied");
  console.log("read .env:", JSON.stringify(denied.result.status === "error" && denied.result.error));

  const counted = await new ToolExecutor(session).execute(wordCount, { path: "notes.md" });
  assert.deepEqual([counted.success, counted.output], [true, '{"words":5}']);
  const hidden = await new ToolExecutor(session).execute(wordCount, { path: ".env" });
  assert.equal(hidden.success, false);
  console.log("own tool:", counted.output, "| on .env:", hidden.output);

  const append = () =>
    session.call("write_file", { path: "log.txt", content: "once\n", append: true }, { dedupeKey: "append-1" });
  await Promise.all([append(), append(), append()]);
  const log = await new ToolExecutor(session).execute("read_file", { path: "log.txt" });
  assert.equal(log.output, "once\n");
  console.log("three calls with one dedupe key wrote:", JSON.stringify(log.output));

  const stored = await session.putContent(Buffer.from("a prompt"));
  assert.equal(stored.result.status, "success");
  const hash = Buffer.from(String(stored.result.data["content_hash"]), "hex");
  const fetched = await session.getContent(hash);
  assert.equal(fetched.kind, "content");
  const pieces: Uint8Array[] = [];
  for await (const chunk of fetched.chunks) pieces.push(chunk);
  assert.equal(Buffer.concat(pieces).toString(), "a prompt");
  console.log("stored content:", hash.toString("hex"));
}
rmSync(place, { recursive: true });
