/** Names the tools that a configuration switches off and that do not exist: a misspelt name switches nothing off. */
import { withCanonicalActions } from "../policy/action.ts";
import type { OperatorDirectory } from "./operator-directory.ts";

/** A warning about `tools.disabled` of the operator's settings, or `undefined` when every name is a tool's. */
export function warningOfUnknownTools(
  { path, settings }: Pick<OperatorDirectory, "path" | "settings">,
  tools: readonly { readonly name: string }[],
): string | undefined {
  const known = new Set([...tools, ...withCanonicalActions([])].map(({ name }) => name));
  const unknown = settings.tools.disabled.filter((name) => !known.has(name));
  if (unknown.length === 0) return undefined;
  const names = unknown.map((name) => `\`${name}\``).join(", ");
  return `${path}/handrail.yaml: \`tools.disabled\` names ${names}, which no tool is called; nothing is switched off by that, so correct the spelling`;
}
