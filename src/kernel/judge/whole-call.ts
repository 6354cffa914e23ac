/**
 * Names a call in full, for policies that mean this very call and no other: `context.call`.
 *
 * A command's line does not say what feeds it or where its output goes, and a tool's name nothing of its arguments.
 * INVARIANT: two calls that differ in any argument have different names, or `UNNAMED_CALL`, which no permit is proposed
 * for.
 */
import { KernelError } from "../../base/errors.ts";
import type { Access } from "../../model/place/access.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { UNNAMED_CALL } from "../../policy/terms/request.ts";
import { canonicalArguments } from "../declared/plain-arguments.ts";

/** Characters of the longest name: it stands in every request to policy, and in permits that people read. */
export const WHOLE_CALL_CHARACTERS_MAX = 2048;

/**
 * The arguments of a call as canonical JSON; empty where its resources say everything that a permit is about, which are
 * the files and artifacts of tools that only read or write.
 */
export function wholeCall(
  tool: Pick<Tool, "capability">,
  accesses: readonly Access[],
  args: Readonly<Record<string, unknown>>,
): string {
  const { effect } = tool.capability;
  const isNamed = (effect === "read" || effect === "write") && accesses.length > 0 && accesses.every(isFileOrArtifact);
  return isNamed ? "" : nameOf(args);
}

function isFileOrArtifact({ resource }: Access): boolean {
  return resource.kind === "file" || resource.kind === "artifact";
}

function nameOf(args: Readonly<Record<string, unknown>>): string {
  try {
    const name = canonicalArguments(args);
    return name.length <= WHOLE_CALL_CHARACTERS_MAX ? name : UNNAMED_CALL;
  } catch (error) {
    // Text with a lone surrogate has no canonical form: the call is judged, and cannot be named.
    if (error instanceof KernelError) return UNNAMED_CALL;
    throw error;
  }
}
