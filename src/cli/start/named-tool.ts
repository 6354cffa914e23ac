/** Finds a tool of an open kernel by the name that a person typed. */
import { usageError } from "../../base/errors.ts";
import { dialectOf } from "../../model/people/dialect.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { nearestName } from "../../text/near-miss.ts";

/** A tool as the kernel describes it. */
export type NamedTool = ReturnType<OpenKernel["door"]["tools"]>[number];

/** The tool `name`. @throws KernelError USAGE with the nearest name, where there is none of that name */
export function requireTool({ door }: Pick<OpenKernel, "door">, name: string): NamedTool {
  return namedOf(door.tools(), name);
}

/** The same among the tools of a dialect, where one is named. */
export async function requireSpokenTool(
  kernel: Pick<OpenKernel, "door">,
  name: string,
  dialect: string | undefined,
): Promise<NamedTool> {
  if (dialect === undefined) return requireTool(kernel, name);
  return namedOf(await kernel.door.spokenTools(dialectOf(dialect)), name);
}

function namedOf(tools: readonly NamedTool[], name: string): NamedTool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const meant = nearestName(
    name,
    tools.map((tool) => tool.name),
  );
  const hint = meant === undefined ? "" : `did you mean \`${meant}\`? `;
  throw usageError(`there is no tool \`${name}\`; ${hint}\`handrail tools\` lists them`);
}
