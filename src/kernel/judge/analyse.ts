/**
 * Analyse: which tool, with arguments that fit its schema, touching what. Pure but for the registry, and for a tool's
 * look at what the workspace is built with: without it nobody would know which command a test runs before it runs.
 */
import type { ZodError } from "zod";
import { asStep } from "../../base/long-steps.ts";
import { allow, type Denial, deny, type Verdict, type Violation } from "../../model/outcome/decision.ts";
import type { OperatorGates } from "../../model/people/gates.ts";
import type { Access } from "../../model/place/access.ts";
import type { ToolCall } from "../../model/tool/call.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { isSystemTool } from "../../model/work/system.ts";
import { nearestName } from "../../text/near-miss.ts";
import { listed, summarised } from "../call/violations.ts";
import type { WorkspaceLook } from "../call/workspace-look.ts";
import { type Demands, demandsOf } from "../declared/capability-obligations.ts";
import type { ToolRegistry } from "../declared/registry.ts";
import { isSpecified } from "./gates.ts";

/** Every access that a call will make, and what it says of itself. */
export interface Analysis {
  /** The arguments as the schema read them. */
  readonly args: unknown;
  readonly accesses: readonly Access[];
  /** The arguments as they were sent. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What the tool's capability asks for this call. */
  readonly demands: Demands;
}

/** The tool that a call names. */
export function findTool(registry: ToolRegistry, gates: OperatorGates, name: string): Verdict<Tool> {
  const tool = registry.get(name);
  if (tool) return allow(tool);
  return deny(isSpecified(gates, name) ? notImplemented(name) : unknownTool(registry, name));
}

/**
 * Parses the arguments with the tool's schema, and asks it what it will touch: a tool that only reads, nothing else.
 */
export function analyse(tool: Tool, call: Pick<ToolCall, "arguments">, look: WorkspaceLook): Verdict<Analysis> {
  const parsed = tool.parameters.safeParse(call.arguments);
  if (!parsed.success) return invalidInput(tool.name, parsed.error);
  const args: unknown = parsed.data;
  const accesses = asStep(`analysing ${tool.name}`, () => tool.analyse(args, look.toolchain, look.repository));
  const { effect } = tool.capability;
  if (accesses.some(({ action }) => action !== undefined && !Object.hasOwn(tool.actions ?? {}, action)))
    return deny(undeclared(tool.name));
  // Intent, re-check and replay protection go by the capability, and clients are told of it: it must not promise too
  // much.
  if (effect === "read" && accesses.some((access) => access.effect !== "read")) return deny(contradicted(tool.name));
  return allow({ args, accesses, input: call.arguments, demands: demandsOf(tool, args, accesses) });
}

function undeclared(tool: string): Denial {
  const message = `the analysis of \`${tool}\` names an action that it does not declare; tell the tool's author`;
  return { layer: "scope", reason: "permission_denied", ruleId: `ANALYSE:${tool}`, message };
}

function contradicted(tool: string): Denial {
  const message = `\`${tool}\` declares that it only reads, but its analysis names another effect; tell the tool's author`;
  return { layer: "scope", reason: "permission_denied", ruleId: `ANALYSE:${tool}`, message };
}

function notImplemented(tool: string): Denial {
  const message = `the operator has a spec of \`${tool}\`, but nothing here implements it; list the tools and use one of them`;
  return { layer: "call", reason: "tool_not_implemented", ruleId: `SPEC:${tool}`, message };
}

function unknownTool(registry: ToolRegistry, name: string): Denial {
  if (isSystemTool(name)) {
    const message = `\`${name}\` is switched off here; the operator switches it on, and lists what it may use, with \`system\` in handrail.yaml`;
    return {
      layer: "gates",
      reason: "tool_not_allowed",
      ruleId: "SYSTEM:off",
      message,
      fix: "a section `system` in the operator's handrail.yaml",
    };
  }
  const near = nearestName(
    name,
    registry.getAll().map((tool) => tool.name),
  );
  const meant = near === undefined ? "" : ` did you mean \`${near}\`?`;
  const message = `no tool is named \`${name.slice(0, 64).toWellFormed()}\`;${meant} list the tools (\`tools/list\` over MCP, \`ListTools\` over RPC, \`handrail tools\`) and use one of them`;
  return { layer: "gates", reason: "tool_spec_missing", ruleId: "TOOL:unknown", message };
}

/** Refuses arguments that do not fit the schema of `tool`. */
export function invalidInput(tool: string, error: ZodError): Verdict<never> {
  const violations = error.issues.flatMap(violationsOf);
  const summary = summarised(violations, "; ", (violation) => `\`${violation.field}\`: ${violation.message}`);
  return deny({
    layer: "call",
    reason: "tool_input_invalid",
    ruleId: `SCHEMA:${tool}`,
    message: `the arguments do not fit \`${tool}\`: ${summary}`,
    fix: `arguments as the input schema of \`${tool}\` describes them`,
    violations: listed(violations),
  });
}

function violationsOf(issue: ZodError["issues"][number]): Violation[] {
  const at = fieldName(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: fieldName([...issue.path, key]),
      rule: "unknown_property",
      message: "unknown property",
    }));
  }
  const rule = ruleOf(issue);
  const isMissing = rule === "required" && issue.code === "invalid_type";
  const message = isMissing ? "is missing" : issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  return [{ field: at, rule, message }];
}

function ruleOf(issue: ZodError["issues"][number]): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.message.includes("undefined") ? "required" : "type";
    case "too_small":
      return issue.origin === "string" && issue.minimum === 1 ? "required" : "min_value";
    case "too_big":
      return issue.origin === "string" ? "max_length" : issue.origin === "array" ? "max_items" : "max_value";
    case "custom":
      return typeof issue.params?.["rule"] === "string" ? issue.params["rule"] : "format";
    default:
      return "format";
  }
}

function fieldName(path: readonly PropertyKey[]): string {
  let name = "";
  for (const part of path) name += typeof part === "number" ? `[${part}]` : `${name === "" ? "" : "."}${String(part)}`;
  return name;
}
