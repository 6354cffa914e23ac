/**
 * Completes paths of the workspace, for prompts that take one.
 *
 * The listing is the call `list_files`: what the session may not see completes nothing.
 */
import { isJsonObject } from "../../../base/json.ts";
import type { Completing } from "../protocol/features.ts";
import type { McpOptions } from "../protocol/options.ts";

/** Entries of a directory that are looked at. */
const ENTRIES_MAX = 1_000;

/** The paths that begin with what was typed; none where the argument is no path. */
export async function completePath(
  { door, sessionToken, newRequestId }: Pick<McpOptions, "door" | "sessionToken" | "newRequestId">,
  { argument, value }: Completing,
): Promise<readonly string[]> {
  if (argument !== "path") return [];
  const slash = value.lastIndexOf("/");
  const path = slash <= 0 ? "." : value.slice(0, slash);
  const { outcome } = await door.execute(
    {
      kind: "call",
      requestId: newRequestId(),
      sessionToken,
      tool: "list_files",
      arguments: { path, max_entries: ENTRIES_MAX },
    },
    new AbortController(),
  );
  const entries = outcome.kind === "success" ? outcome.data["entries"] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    const found = isJsonObject(entry) ? entry["path"] : undefined;
    if (typeof found !== "string" || !found.startsWith(value)) return [];
    return [isJsonObject(entry) && entry["kind"] === "directory" ? `${found}/` : found];
  });
}
