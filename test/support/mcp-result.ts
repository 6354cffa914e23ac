/** Reads results of `tools/call` as a program would: the facts in `_meta`, and what a command's texts say of it. */
import type { JsonObject } from "../../src/base/json.ts";

/** The facts of a result: a ToolResult without its data. */
export interface Facts {
  readonly request_id: string;
  readonly status: string;
  readonly error?: Readonly<Record<string, unknown>>;
  readonly metadata: JsonObject & { readonly ledger_sequence: number; readonly rules: readonly string[] };
}

/** The facts of a result. */
export function factsOf(result: unknown): Facts {
  const { _meta } = result as { readonly _meta?: Readonly<Record<string, unknown>> };
  return _meta?.["handrail/result"] as Facts;
}

/** What stands in a result's `_meta` at least, for `toMatchObject`. */
export const facts = (expected: object) => ({ _meta: { "handrail/result": expected } });

/** The texts of a result. */
export function textsOf(result: unknown): readonly string[] {
  return (result as { readonly content: readonly { readonly text: string }[] }).content.map(({ text }) => text);
}

/** A command's result, put together again from what a model reads of it. */
export function commandOf(result: unknown): Facts & {
  readonly data: JsonObject & { readonly stdout: string; readonly stderr: string };
} {
  const [said = "", ...output] = textsOf(result);
  const stderr = output.find((text) => text.startsWith("stderr:\n"))?.slice("stderr:\n".length) ?? "";
  const stdout = output.find((text) => !text.startsWith("stderr:\n")) ?? "";
  const exit = /^exit code (\d+)$/m.exec(said)?.[1];
  const ended = /^ended by the kernel: (\w+)$/m.exec(said)?.[1];
  const check = /^(passed|failed): .* \(named by (.*?)\)(.*)$/m.exec(said);
  const counts = [...(check?.[3] ?? "").matchAll(/, (\d+) (\w+)/g)].map(([, count, what]) => [what, Number(count)]);
  const notKept = /^not kept: (.*)$/m.exec(said)?.[1]?.split(", ");
  return {
    ...factsOf(result),
    data: {
      stdout,
      stderr,
      ...(exit !== undefined && { exit_code: Number(exit) }),
      ...(ended !== undefined && { ended_by: ended }),
      ...(check && { passed: check[1] === "passed", source: check[2] ?? "" }),
      ...(counts.length > 0 && { tests: Object.fromEntries(counts) as JsonObject }),
      ...(notKept && {
        not_kept: notKept.map((each) => {
          const [, path = "", reason = ""] = /^(.*) \((\w+)\)$/.exec(each) ?? [];
          return { path, reason };
        }),
      }),
    },
  };
}
