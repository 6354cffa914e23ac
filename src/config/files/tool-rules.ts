/**
 * Tool specs and tool policies in serverd's shape: what they demand of registered tools, and which tools may run.
 *
 * The identifiers `serverd.…` and `handrail.…` mean the same. Pure but for the compiler of JSON Schemas, which is
 * passed in. INVARIANT: a spec or a policy can only demand more and allow less; what it does not name is denied where
 * it lists what is allowed.
 */
import * as z from "zod";
import type { ToolPolicy, ToolSpec } from "../../model/people/gates.ts";
import {
  acceptGate,
  description,
  type GateFile,
  gateProblem,
  inputSchema,
  jsonOf,
  parseGateFile,
  toolName,
  toolNames,
} from "./gate-file.ts";
import type { SchemaCompiler } from "./profiles.ts";

const risk = z.enum(["low", "medium", "high"]);

const spec = z
  .strictObject({
    schema: z.enum(["serverd.tool_spec.v1", "handrail.tool_spec.v1"]),
    id: toolName,
    description,
    version: z.string().max(128).optional(),
    risk: risk.optional(),
    /** The same, as serverd spells it. */
    risk_level: risk.optional(),
    requires_approval: z.boolean().default(false),
    requires_arming: z.boolean().default(false),
    /** A JSON Schema; serverd names one instead, which says nothing here. */
    input_schema: z.union([z.string().max(256), inputSchema]).optional(),
    output_schema: z.string().max(256).optional(),
    deterministic: z.boolean().optional(),
    filesystem: z.boolean().optional(),
  })
  .refine(({ risk: own, risk_level: level }) => own === undefined || level === undefined || own === level, {
    path: ["risk"],
    message: "contradicts `risk_level`; write one of them",
  });

const policy = z.strictObject({
  schema: z.enum(["serverd.tool_policy.v1", "handrail.tool_policy.v1"]),
  tools_enabled: z.boolean().default(true),
  /** `*` allows every tool. */
  allowed_tools: z
    .array(z.union([z.literal("*"), toolName]))
    .max(512)
    .default([]),
  default_allow: z.boolean().default(false),
  require_approval: toolNames.default([]),
  require_arming: toolNames.default([]),
});

/** serverd's policy of a workspace: whether it is open; where it lies is the operator's to say here. */
const workspacePolicy = z.strictObject({
  schema: z.literal("serverd.workspace_policy.v1"),
  enabled: z.boolean().default(true),
  workspace_root: z.string().max(4096).optional(),
  allow_repo_root: z.boolean().optional(),
  per_run_dir: z.boolean().optional(),
});

/** Parses a tool spec. @throws KernelError CONFIG_INVALID naming every problem */
export async function parseToolSpec(file: GateFile, compile: SchemaCompiler): Promise<ToolSpec> {
  const parsed = await parseGateFile(spec, file);
  const { id, requires_approval: requiresApproval, input_schema: schema } = parsed;
  const requiresArming = parsed.requires_arming || (parsed.risk ?? parsed.risk_level) === "high";
  const input = typeof schema === "object" ? await compile(schema, `${file.name}\`: \`input_schema`) : undefined;
  return { id, file: file.name, requiresApproval, requiresArming, ...(input && { input }) };
}

/** Specs by the tools that they are about. @throws KernelError CONFIG_INVALID when two files are about the same one */
export function specsById(specs: readonly ToolSpec[]): ReadonlyMap<string, ToolSpec> {
  const byId = new Map<string, ToolSpec>();
  for (const one of specs) {
    const other = byId.get(one.id);
    if (other !== undefined)
      throw gateProblem(one.file, `id: \`${one.id}\` has a spec in \`${other.file}\` already; keep one of them`);
    byId.set(one.id, one);
  }
  return byId;
}

/** Parses a tool policy of the operator. @throws KernelError CONFIG_INVALID naming every problem */
export function parseToolPolicy({ name, text }: GateFile): ToolPolicy {
  return policyOf(acceptGate(policy, jsonOf(text, name), name));
}

/**
 * Parses the `policy.json` of a workspace. `undefined` for a file that is valid and of somebody else: many programs
 * have one.
 * @throws KernelError CONFIG_INVALID when it is not JSON, or says to be ours and is not valid
 */
export function parseWorkspacePolicy({ name, text }: GateFile): ToolPolicy | undefined {
  const value = jsonOf(text, name);
  const schema: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "schema") : undefined;
  if (typeof schema !== "string" || !/^(?:serverd|handrail)\./.test(schema)) return undefined;
  if (schema !== "serverd.workspace_policy.v1") return policyOf(acceptGate(policy, value, name));
  const { enabled } = acceptGate(workspacePolicy, value, name);
  return { enabled, allows: () => true, requireApproval: new Set(), requireArming: new Set() };
}

function policyOf(parsed: z.output<typeof policy>): ToolPolicy {
  const allowed = new Set<string>(parsed.allowed_tools);
  const allowsAll = parsed.default_allow || allowed.has("*");
  return {
    enabled: parsed.tools_enabled,
    allows: (tool) => allowsAll || allowed.has(tool),
    requireApproval: new Set(parsed.require_approval),
    requireArming: new Set(parsed.require_arming),
  };
}
