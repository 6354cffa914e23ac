/**
 * What the compiler must say of the public interface. Compiled with the project and never run: each `@ts-expect-error`
 * is a fault when the line below it compiles, and everything else is a fault when it does not.
 */
import {
  createKernel,
  defineTool,
  type ExecutorResult,
  type JsonObject,
  type Kernel,
  type KernelSession,
  type Outcome,
  type Tool,
  ToolExecutor,
  type ToolResult,
} from "handrail";
import { expectTypeOf } from "vitest";
import { z } from "zod";

const wordCount = defineTool({
  name: "word_count",
  title: "Count words",
  description: "Counts the words of a file.",
  parameters: z.strictObject({ path: z.string(), limit: z.int().optional() }),
  capability: { effect: "read", risk: "low", approval: { level: "auto" } },
  analyse(args) {
    expectTypeOf(args).toEqualTypeOf<{ path: string; limit?: number | undefined }>();
    return [{ resource: { kind: "file", path: args.path }, effect: "read" }];
  },
  async execute({ path }, context) {
    expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
    // @ts-expect-error a tool has no ambient authority: there is no such handle
    context.process;
    const { bytes } = await context.files.read(path, { bytesMax: 1000 });
    return { kind: "data", data: { bytes: bytes.byteLength } };
  },
});
expectTypeOf(wordCount).toEqualTypeOf<Tool>();

defineTool({
  ...wordCount,
  // @ts-expect-error an effect class that does not exist
  capability: { effect: "harmless", risk: "low", approval: { level: "auto" } },
});

defineTool({
  ...wordCount,
  // @ts-expect-error output is never logged
  capability: { effect: "read", risk: "low", approval: { level: "auto" }, audit: { logOutput: true } },
});

// @ts-expect-error a tool says what it will touch
defineTool({
  name: "x",
  title: "x",
  description: "x",
  parameters: z.strictObject({}),
  capability: wordCount.capability,
  execute: wordCount.execute,
});

/** A program that embeds a kernel. */
export async function embed(): Promise<void> {
  await using kernel = await createKernel({ stateDirectory: "/nowhere", tools: [wordCount] });
  expectTypeOf(kernel).toExtend<Kernel>();
  // @ts-expect-error a session belongs to a workspace
  await kernel.openSession({ role: "dev" });
  await using session = await kernel.openSession({ workspace: "." });
  expectTypeOf(session).toExtend<KernelSession>();

  const { response, result } = await session.call("word_count", { path: "a" }, { dedupeKey: "once" });
  expectTypeOf(response.outcome).toEqualTypeOf<Outcome>();
  expectTypeOf(result).toEqualTypeOf<ToolResult>();
  // @ts-expect-error only a success has data: look at `status` first
  result.data;
  if (result.status === "success") expectTypeOf(result.data).toEqualTypeOf<JsonObject>();
  else expectTypeOf(result.error.suggestion).toEqualTypeOf<string>();
  // @ts-expect-error arguments are JSON
  await session.call("word_count", { path: () => "a" });

  const fetched = await session.getContent(new Uint8Array(32), { offset: 1 });
  if (fetched.kind === "content") expectTypeOf(fetched.chunks).toEqualTypeOf<AsyncIterable<Uint8Array>>();
  expectTypeOf(await new ToolExecutor(session).execute(wordCount, { path: "a" })).toEqualTypeOf<ExecutorResult>();
}
