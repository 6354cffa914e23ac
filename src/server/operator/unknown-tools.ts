/**
 * Warns about tools that a configuration names and that do not exist.
 *
 * A misspelt name switches nothing off, and asks nothing.
 */
import { withCanonicalActions } from "../../policy/terms/action.ts";
import type { OperatorDirectory } from "./operator-directory.ts";

/**
 * A warning about `tools.disabled`, `capabilities` and `limits.rate.tools` of the operator's settings, or `undefined`
 * when every name is a tool's.
 */
export function warningOfUnknownTools(
  { path, settings }: Pick<OperatorDirectory, "path" | "settings">,
  tools: readonly { readonly name: string }[],
): string | undefined {
  const warnings = unknownTools(settings, tools);
  return warnings.length === 0 ? undefined : `${path}/handrail.yaml: ${warnings.join("; ")}, so correct the spelling`;
}

/** One warning for each of the lists that names tools which do not exist. */
export function unknownTools(
  settings: OperatorDirectory["settings"],
  tools: readonly { readonly name: string }[],
): readonly string[] {
  const known = new Set([...tools, ...withCanonicalActions([])].map(({ name }) => name));
  return [
    warningOf(
      settings.tools.disabled,
      known,
      (names) => `\`tools.disabled\` names ${names}, which no tool is called; nothing is switched off by that`,
    ),
    warningOf(
      Object.keys(settings.capabilities),
      known,
      (names) => `\`capabilities\` names ${names}, which no tool is called; nothing is asked or refused by that`,
    ),
    warningOf(
      Object.keys(settings.limits.rate?.tools ?? {}),
      known,
      (names) => `\`limits.rate.tools\` names ${names}, which no tool is called; nothing is slowed down by that`,
    ),
  ].filter((warning) => warning !== undefined);
}

function warningOf(
  names: readonly string[],
  known: ReadonlySet<string>,
  say: (names: string) => string,
): string | undefined {
  const unknown = names.filter((name) => !known.has(name));
  return unknown.length === 0 ? undefined : say(unknown.map((name) => `\`${name}\``).join(", "));
}
