/**
 * Makes a tool of the kernel out of a plugin, and contains what the plugin does wrong.
 *
 * INVARIANTS: a plugin that throws has failed, one that does not answer in time is given up, and one that answers
 * anything but `{success, output}` is refused; what it does to its arguments nobody else sees.
 */
import * as z from "zod";
import { MIB } from "../../base/bytes.ts";
import { configInvalid } from "../../base/errors.ts";
import { FailureWithoutEffect, Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { ToolCapability } from "../../model/tool/capability.ts";
import type { Tool, ToolContext, ToolOutput } from "../../model/tool/tool.ts";
import { flag, objectOf, text } from "../kit/result-schema.ts";
import { LeasedContext } from "./leased-context.ts";
import type { PluginCapability, PluginOutput, ToolPlugin } from "./plugin.ts";

/** Milliseconds of one call of a plugin. */
const PLUGIN_MS_MAX = 600_000;
/** Characters of what a plugin answers. */
const OUTPUT_CHARACTERS_MAX = 16 * MIB;

/** The tool that a plugin is. @throws KernelError CONFIG_INVALID where it is none */
export function fromPlugin<Arguments>(plugin: ToolPlugin<Arguments>): Tool {
  const { name, title = name, description, analyse } = plugin;
  if (typeof plugin.execute !== "function") throw configInvalid(`plugin \`${name}\` has no \`execute\``);
  return {
    name,
    title,
    description,
    parameters: strictOf(plugin),
    outputSchema: objectOf({ success: flag(), output: text(), error: text() }, ["error"]),
    capability: capabilityOf(plugin.capability, analyse !== undefined),
    analyse: (args) => analyse?.call(plugin, structuredClone(args) as Arguments) ?? [],
    execute: (args, context) => run(plugin, args, context),
    toText: ({ output, error }) => [output, error].filter((part) => typeof part === "string" && part !== "").join("\n"),
  };
}

/** meao's schemas let unknown properties through; the kernel's refuse them. */
function strictOf({ name, parameters }: Pick<ToolPlugin, "name" | "parameters">): Tool["parameters"] {
  if (parameters instanceof z.ZodObject) return parameters.strict();
  throw configInvalid(`plugin \`${name}\`: \`parameters\` must be a \`z.object\``);
}

/** What nobody looked at is asked about. */
function capabilityOf(declared: PluginCapability, isAnalysed: boolean): ToolCapability {
  const { effect = effectOf(declared), risk = "medium", approval } = declared;
  const level = isAnalysed || approval.level === "always_deny" ? approval.level : "ask";
  return { ...declared, effect, risk, approval: { ...approval, level } };
}

function effectOf({ execution, network }: PluginCapability): ToolCapability["effect"] {
  if (execution?.sandbox === "container") return "exec";
  return network === undefined || network.mode === "none" ? "write" : "network";
}

async function run<Arguments>(plugin: ToolPlugin<Arguments>, args: unknown, context: ToolContext): Promise<ToolOutput> {
  const lease = new LeasedContext(context, { name: plugin.name, isAnalysed: plugin.analyse !== undefined });
  try {
    const output = await inTime(plugin.name, answerOf(plugin, structuredClone(args) as Arguments, lease));
    return outputOf(plugin.name, output);
  } finally {
    lease.end();
  }
}

/** What the plugin answers; one that throws has failed, and what a handle refused stays refused. */
async function answerOf<Arguments>(
  plugin: ToolPlugin<Arguments>,
  args: Arguments,
  lease: LeasedContext,
): Promise<unknown> {
  try {
    return await plugin.execute(args, lease.context);
  } catch (error) {
    if (error instanceof Refusal || error instanceof ToolFailure) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { success: false, output: "", error: message } satisfies PluginOutput;
  }
}

async function inTime(name: string, answer: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new ToolFailure("TIMEOUT", `\`${name}\` did not answer within ${PLUGIN_MS_MAX / 1000} s`, "ask for less"),
        ),
      PLUGIN_MS_MAX,
    );
    timer.unref();
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The output as the kernel takes it; anything else is handed on as the nothing that it is. */
function outputOf(name: string, answer: unknown): ToolOutput {
  if (!isPluginOutput(answer)) return undefined as unknown as ToolOutput;
  const { success, output, error } = answer;
  if (output.length + (error?.length ?? 0) > OUTPUT_CHARACTERS_MAX)
    throw new FailureWithoutEffect(
      "OUTPUT_LIMIT",
      `\`${name}\` answered more than ${OUTPUT_CHARACTERS_MAX} characters`,
      "ask for less",
    );
  return { kind: "data", data: { success, output, ...(error !== undefined && { error }) } };
}

function isPluginOutput(value: unknown): value is PluginOutput {
  if (typeof value !== "object" || value === null) return false;
  const { success, output, error } = value as Partial<Record<keyof PluginOutput, unknown>>;
  return (
    typeof success === "boolean" && typeof output === "string" && (error === undefined || typeof error === "string")
  );
}
