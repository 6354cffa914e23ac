/**
 * Secrets and redaction markers in what a call writes.
 *
 * Decides: which accesses carry a definite secret, so that policy asks; and that no marker takes the place of a secret.
 * INVARIANT: a file is never left with a redaction marker that it did not have before.
 */

import type { Denial } from "../../model/outcome/decision.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { FileAccess, FileTransform } from "../../model/place/files.ts";
import type { ToolCall } from "../../model/tool/call.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { CONTENT_ID_PREFIX } from "../../model/work/content.ts";
import { newMarkers } from "../../redact/search/marker.ts";
import { decodedRun, NUMBERED_RUN } from "../../text/numbered-runs.ts";
import type { ResolvedAccess } from "../call/stages.ts";
import type { CallRedaction } from "../redaction/redaction.ts";

/** Marks the accesses by which the arguments of the call, if they hold a definite secret, would be written or sent. */
export function markSecrets(
  redaction: CallRedaction,
  { tool, call }: { readonly tool: Pick<Tool, "capability">; readonly call: Pick<ToolCall, "arguments"> },
  accesses: readonly ResolvedAccess[],
): readonly ResolvedAccess[] {
  if (!mayWriteSecrets(tool, accesses)) return accesses;
  const leaves = accesses.some(({ effect, resource }) => effect === "network" || resource.kind === "host");
  const isSecret = redaction.isSecret(call.arguments) || (leaves && redaction.isSecret(asServersRead(call.arguments)));
  if (!isSecret) return accesses;
  return accesses.map((access) =>
    access.effect === "read" || storesVerbatim(access) ? access : { ...access, carriesSecret: true },
  );
}

/** The texts with what addresses escape as servers decode it: a secret must not leave by being escaped. */
function asServersRead(value: unknown): unknown {
  if (typeof value === "string") return ESCAPED.test(value) ? decodedRuns(value) : "";
  if (value === null || typeof value !== "object") return null;
  if (Array.isArray(value)) return value.map(asServersRead);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asServersRead(member)]));
}

/** What addresses, JSON and HTML escape by numbers. */
const ESCAPED = /%[0-9a-f]{2}|\\u[0-9a-f]{4}|&#x?[0-9a-f]{1,5};/i;

/** Twice, because what one server decodes it may pass on to another. */
function decodedRuns(text: string): string {
  const numbered = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));
  const once = (escaped: string) =>
    escaped
      .replaceAll(NUMBERED_RUN, decodedRun)
      .replaceAll(/\\u([0-9a-f]{4})/gi, numbered)
      .replaceAll(/&#x([0-9a-f]{1,4});/gi, numbered)
      .replaceAll(/&#(\d{1,5});/g, (_, digits: string) => String.fromCharCode(Number(digits)));
  return once(once(text));
}

/** Whether secrets among the arguments matter. */
export function mayWriteSecrets(tool: Pick<Tool, "capability">, accesses: readonly ResolvedAccess[]): boolean {
  return tool.capability.effect !== "read" && !accesses.every(storesVerbatim);
}

/** Content is stored as it is or not at all: its handle refuses secrets, and nobody is asked. */
function storesVerbatim({ resource, effect }: ResolvedAccess): boolean {
  return effect === "write" && resource.kind === "artifact" && resource.id.startsWith(CONTENT_ID_PREFIX);
}

/**
 * `access` that writes no redaction marker which the file did not have: it would take the place of the secret that it
 * stands for.
 * @param bytesMax of a file in which markers are looked for; in a larger one each marker counts as new
 */
export function withoutMarkers(access: FileAccess, bytesMax: number): FileAccess {
  return {
    ...access,
    async write(path, content, options) {
      if (mayHaveMarkers(content)) {
        const original = options.mode === "overwrite" ? await textOf(access, path, bytesMax) : "";
        requireNoMarkers(original, textOfBytes(content));
      }
      return access.write(path, content, options);
    },
    transform: (path, transformedMax, transform) => access.transform(path, transformedMax, markerless(transform)),
    transformAll: (files) =>
      access.transformAll(files.map((file) => ({ ...file, transform: markerless(file.transform) }))),
  };
}

function markerless(transform: FileTransform["transform"]): FileTransform["transform"] {
  return (original) => {
    const requireNone = (changed: Uint8Array) => {
      if (mayHaveMarkers(changed)) requireNoMarkers(textOfBytes(original), textOfBytes(changed));
      return changed;
    };
    const changed = transform(original);
    return changed instanceof Promise ? changed.then(requireNone) : requireNone(changed);
  };
}

const OPENING = Buffer.from("[REDACTED:");

function mayHaveMarkers(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(OPENING);
}

/** What the file holds now; nothing when it cannot be read, for then no marker can be shown to be its own. */
async function textOf(access: FileAccess, path: string, bytesMax: number): Promise<string> {
  try {
    return textOfBytes((await access.read(path, { bytesMax })).bytes);
  } catch (error) {
    if (error instanceof ToolFailure || error instanceof Refusal) return "";
    throw error;
  }
}

function textOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function requireNoMarkers(original: string, written: string): void {
  const [marker] = newMarkers(original, written);
  if (marker !== undefined) throw new Refusal(markerInContent(marker));
}

function markerInContent(marker: string): Denial {
  return {
    layer: "flow",
    reason: "redaction_marker_in_content",
    ruleId: "FC:redaction-marker",
    message:
      `the content holds \`${marker}\`, which stands for a secret that was hidden from you; writing it would destroy the secret, so nothing ` +
      "was written. Change the file with `edit_file` and leave the lines with markers alone",
    fix: "edits that do not touch the hidden text; a person changes the secret itself",
  };
}
