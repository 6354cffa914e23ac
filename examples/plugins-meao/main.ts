/**
 * Plugins as meao writes them: one that asks for every call, one that reads what its analysis names, and an executor on
 * an approval manager, which answers a command that failed. Exits non-zero if it is not so.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApprovalManager, createKernel, ToolExecutor, type ToolPlugin } from "handrail";
import { z } from "zod";

const place = mkdtempSync(join(tmpdir(), "handrail-meao-"));
const workspace = join(place, "workspace");
const operator = join(place, "operator");
for (const directory of [workspace, operator, join(operator, "policy")]) mkdirSync(directory, { mode: 0o700 });
writeFileSync(join(workspace, "notes.md"), "one two three\n");
// Tools from outside may touch files once the operator says which.
writeFileSync(
  join(operator, "policy", "plugins.cedar"),
  `@id("own.word-count")
@message("words may be counted in the workspace")
permit (principal, action == Handrail::Action::"word_count", resource is Handrail::File);
`,
  { mode: 0o600 },
);

const greet: ToolPlugin<{ name: string }> = {
  name: "greet",
  description: "Greets somebody.",
  parameters: z.object({ name: z.string() }),
  capability: { approval: { level: "auto" }, labels: { outputTrust: "verified" } },
  async execute({ name }) {
    return { success: true, output: `Hello, ${name}!` };
  },
};

const wordCount: ToolPlugin<{ path: string }> = {
  name: "word_count",
  description: "Counts the words of a file.",
  parameters: z.object({ path: z.string() }),
  capability: { effect: "read", risk: "low", approval: { level: "auto" }, labels: { outputTrust: "verified" } },
  analyse: ({ path }) => [{ resource: { kind: "file", path }, effect: "read" }],
  async execute({ path }, { files }) {
    const { bytes } = await files.read(path, { bytesMax: 100_000 });
    return { success: true, output: String(Buffer.from(bytes).toString().split(/\s+/).filter(Boolean).length) };
  },
};

const asked: string[] = [];
const approvals = new ApprovalManager();
approvals.setHandler({
  async request({ tool }) {
    asked.push(tool);
    return tool === "greet";
  },
});

{
  await using kernel = await createKernel({
    stateDirectory: join(place, "state"),
    configDirectory: operator,
    approvals,
    plugins: [greet, wordCount],
  });
  await using session = await kernel.openSession({ workspace, role: "dev" });
  const executor = new ToolExecutor(approvals);
  const context = { sessionId: session.session.id };

  const greeted = await executor.execute(greet, { name: "Ada" }, context);
  assert.deepEqual([greeted.success, greeted.output, asked], [true, "Hello, Ada!", ["greet"]]);
  console.log("greet, after somebody agreed:", greeted.output);

  const counted = await executor.execute(wordCount, { path: "notes.md" }, context);
  assert.deepEqual([counted.success, counted.output, asked.length], [true, "3", 1]);
  console.log("word_count, which nobody is asked about:", counted.output);

  const failed = await executor.execute("shell", { command: "echo out; echo err >&2; exit 3" }, context);
  assert.deepEqual([failed.success, failed.output, failed.error], [false, "out\n\nSTDERR:\nerr\n", "Exit code: 3"]);
  console.log("a command that failed:", failed.error);
}
rmSync(place, { recursive: true });
