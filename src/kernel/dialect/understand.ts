/**
 * Understands a call in its session's dialect: what it is in the kernel's own words, or why it is none.
 *
 * INVARIANT: what comes out goes through every stage as any call does; a dialect opens nothing.
 */
import { allow, type Denial, deny, type Verdict } from "../../model/outcome/decision.ts";
import type { DialectName } from "../../model/people/dialect.ts";
import type { ToolArguments, ToolCall } from "../../model/tool/call.ts";
import type { ToolRegistry } from "../declared/registry.ts";
import { invalidInput } from "../judge/analyse.ts";
import { loadDialect } from "./load.ts";

/** Characters of a stranger's name that a refusal repeats. */
const NAME_CHARACTERS_MAX = 64;

/** The call in the kernel's words; one of the wire's own variants is that already. */
export async function understand(
  registry: Pick<ToolRegistry, "get">,
  name: DialectName,
  call: ToolCall,
): Promise<Verdict<ToolCall>> {
  if (call.variant !== "call") return allow(call);
  const dialect = await loadDialect(name);
  if (dialect.tools === undefined) {
    const meant = dialect.aliasOf?.(call.tool);
    const isAlias = meant !== undefined && registry.get(call.tool) === undefined && registry.get(meant) !== undefined;
    return allow(isAlias ? { ...call, tool: meant } : call);
  }
  const known = dialect.tools.filter(({ tool }) => registry.get(tool) !== undefined);
  const tool = known.find((one) => one.name === call.tool);
  if (tool === undefined)
    return deny(
      unknownWord(
        name,
        call.tool,
        known.map((one) => one.name),
      ),
    );
  const parsed = tool.parameters.safeParse(call.arguments);
  if (!parsed.success) return invalidInput(tool.name, parsed.error);
  const args: ToolArguments = tool.toArguments(parsed.data as never);
  return allow({ ...call, tool: tool.tool, arguments: args });
}

function unknownWord(dialect: DialectName, tool: string, names: readonly string[]): Denial {
  const shown = tool.slice(0, NAME_CHARACTERS_MAX).toWellFormed();
  return {
    layer: "gates",
    reason: "tool_spec_missing",
    ruleId: `DIALECT:${dialect}`,
    message: `the dialect \`${dialect}\` has no tool \`${shown}\`; use one of ${names.join(", ")}`,
  };
}
