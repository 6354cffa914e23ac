/** Flow's dialect: the kernel's own names, `rag_` before those of knowledge, and errors in Flow's spelling. */
import type { AnsweredCall, Dialect, Spoken } from "./dialect.ts";

/** Codes that Flow has a word of its own for. */
const SPELLED: Readonly<Record<string, string>> = {
  FILE_NOT_FOUND: "FileNotFound",
  RESOURCE_BUSY: "ResourceBusy",
  REGEX_TIMEOUT: "SecurityError",
  PERMISSION_DENIED: "PermissionDenied",
};
/** Layers whose refusals are about safety rather than about rights. */
const SECURITY_LAYERS: ReadonlySet<string> = new Set(["workspace", "flow"]);
const INPUT_LAYERS: ReadonlySet<string> = new Set(["validate", "call"]);

const PREFIX = "rag_";

/** The dialect. */
export const flow: Dialect = {
  name: "flow",
  aliasOf: (name) => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined),
  answer: ({ response: { outcome } }: AnsweredCall): Spoken => {
    if (outcome.kind === "error") return { code: SPELLED[outcome.code] ?? camelCase(outcome.code) };
    if (outcome.kind === "success") return {};
    const { layer, reason } = outcome.denial;
    if (reason === "tool_spec_missing") return { code: "ToolNotFound" };
    if (SECURITY_LAYERS.has(layer)) return { code: "SecurityError" };
    if (INPUT_LAYERS.has(layer)) return { code: "InvalidArgument" };
    return { code: "PermissionDenied" };
  },
};

/** `NOT_A_FILE` as `NotAFile`. */
function camelCase(code: string): string {
  return code
    .split("_")
    .map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`)
    .join("");
}
