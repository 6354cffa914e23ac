/**
 * A dialect: how one source system names its tools, gives their arguments and reads their results.
 *
 * It renames and reshapes, and decides nothing but whether a call is one of its own words. INVARIANT: what it makes of
 * a call is a call of the kernel's, which every stage judges.
 */
import type { ZodType } from "zod";
import type { JsonObject } from "../../base/json.ts";
import type { DialectName } from "../../model/people/dialect.ts";
import type { CallResponse, Outcome } from "../../model/tool/call.ts";

/** A tool as a dialect has it. */
export interface DialectTool {
  readonly name: string;
  readonly description: string;
  /** Refuses unknown properties. */
  readonly parameters: ZodType;
  /** The kernel's tool that does the work. */
  readonly tool: string;
  /** The arguments as that tool takes them; `args` fit `parameters`. */
  readonly toArguments: (args: never) => JsonObject;
}

/** A tool with the types of its arguments taken from their schema. */
export function dialectTool<Arguments>(
  tool: Omit<DialectTool, "parameters" | "toArguments"> & {
    readonly parameters: ZodType<Arguments>;
    readonly toArguments: (args: Arguments) => JsonObject;
  },
): DialectTool {
  return tool;
}

/** What a caller reads of an answer. */
export interface Spoken {
  /** The code of a refused or failed call, as the system spells it. */
  readonly code?: string;
  /** What a model reads. */
  readonly text?: string;
  /** The data of a success. */
  readonly data?: JsonObject;
}

/** A call that was made in a dialect, and what came of it. */
export interface AnsweredCall {
  /** The dialect's name of the tool. */
  readonly name: string;
  /** The kernel's. */
  readonly tool: string;
  readonly response: CallResponse;
}

/** One dialect. */
export interface Dialect {
  readonly name: DialectName;
  /** Its tools; absent: those of the kernel, under their own names. */
  readonly tools?: readonly DialectTool[];
  /** Other names of the kernel's tools, where it has no tools of its own. */
  readonly aliasOf?: (name: string) => string | undefined;
  readonly answer: (call: AnsweredCall) => Spoken;
}

/** A success. */
export type Success = Extract<Outcome, { readonly kind: "success" }>;

/** The text of a result that a model reads: content, lines that were found, what a command printed. */
export function plainText({ data, bytes }: Success): string {
  if (bytes !== undefined) return Buffer.from(bytes).toString();
  const { content, preview } = data;
  if (typeof content === "string") return content;
  return typeof preview === "string" ? preview : JSON.stringify(data);
}

/** What a command printed, as meao writes it: standard error behind a heading. */
export function commandText({ stdout = "", stderr = "" }: JsonObject): string {
  return `${String(stdout)}${stderr === "" ? "" : `\nSTDERR:\n${String(stderr)}`}`;
}
