/**
 * Creates the code handle of one call, for which only files exist that the call may read.
 *
 * INVARIANT: a file is named or read only if zone, lease, mode and policy let this call read it outright, and it lies
 * below a path that analysis named.
 */
import { MIB } from "../../../base/bytes.ts";
import { sharedTurns } from "../../../base/long-steps.ts";
import { Refusal } from "../../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../../model/place/access.ts";
import type { CodeAccess, CodeText, TextsQuery } from "../../../model/place/code.ts";
import { resolveWorkspacePath } from "../../../model/place/workspace.ts";
import { throwIfCancelled } from "../../../sandbox/files/places/failures.ts";
import { readPlace } from "../../../sandbox/search/indexed-files.ts";
import { type ListingScope, liesBelow, listedFiles } from "../../../sandbox/search/listed-files.ts";
import { exclusionsOf } from "../../../sandbox/search/tree/exclusions.ts";
import { shownBytes } from "../../../text/shown-text.ts";
import { judgePlace, leavesReading, unanalysed } from "../../judge/scope.ts";
import { isolationOf } from "../../judge/workspace-programs.ts";
import type { HandleParts } from "../handle-parts.ts";
import type { ServedScope } from "./served-code.ts";
import type { ShownFile } from "./usages.ts";

/** Code for one call. */
export function createCode(handle: HandleParts): CodeAccess {
  return {
    async list(path, filesMax) {
      requireNamed(handle, path);
      return await listedFiles(listingScope(handle), path, filesMax);
    },
    async text(path, file, bytesMax) {
      requireNamed(handle, path);
      return await textOf(handle, tellable(handle, path), { file, bytesMax });
    },
    async texts(path, query, take) {
      requireNamed(handle, path);
      return await takeTexts(handle, { path, query, take });
    },
    async usages(path, symbol, files) {
      requireNamed(handle, path);
      const { usagesOf } = await import("./usages.ts");
      const mayTell = tellable(handle, path);
      return await usagesOf({
        signal: handle.signal,
        read: async (file) => await shownOf(handle, mayTell, { file, bytesMax: SOURCE_BYTES_MAX }),
        symbol,
        files,
      });
    },
    async changedTogether(path, file) {
      requireNamed(handle, path);
      requireNamed(handle, file);
      const { changedTogether } = await import("./changed-together.ts");
      return await changedTogether(handle, tellable(handle, path), file);
    },
    async references(path, query) {
      requireNamed(handle, path);
      const { servedReferences } = await import("./served-code.ts");
      return await servedReferences(servedScope(handle, path), query);
    },
    async diagnostics(files) {
      for (const file of files) requireNamed(handle, file);
      const { servedDiagnostics } = await import("./served-code.ts");
      return await servedDiagnostics(servedScope(handle, "."), files);
    },
    async rename(query) {
      for (const { path } of query.places) requireNamed(handle, path);
      const { proposedRename } = await import("./served-code.ts");
      return await proposedRename(servedScope(handle, "."), query);
    },
  };
}

function servedScope(handle: HandleParts, path: string): ServedScope {
  const mayTell = tellable(handle, path);
  return {
    handle,
    mayTell,
    read: async (file) => await shownOf(handle, mayTell, { file, bytesMax: SOURCE_BYTES_MAX }),
  };
}

function requireNamed({ running: { accesses, tool } }: HandleParts, path: string): void {
  const isNamed = accesses.some(
    ({ resource, effect }) => resource.kind === "file" && resource.path === path && effect === "read",
  );
  if (!isNamed) throw new Refusal(unanalysed(tool.name, "read"));
}

function listingScope(handle: HandleParts): ListingScope {
  const { kernel, running, rules, signal } = handle;
  const { caller, tool } = running;
  const { workspace, roots } = caller.place;
  return {
    workspace,
    roots,
    judge: (target, effect) =>
      judgePlace(caller, { tool, place: target, zone: workspace.zones.classify(target), effect }) ??
      rules.judge(target, effect),
    isolationLevel: isolationOf(caller),
    mayRead: mayRead(handle),
    clock: kernel.parts.clock,
    signal,
  };
}

function mayRead({ running: { caller, tool }, rules }: HandleParts): (place: WorkspacePath) => boolean {
  const { workspace } = caller.place;
  return (place) => {
    const zone = workspace.zones.classify(place);
    return (
      zone !== "secret" && zone !== "managed" && leavesReading(caller, tool.name, place) && rules.judgeTree(place, zone)
    );
  };
}

/** What of a tree the call may be told: below `path`, and not left out of searches that begin there. */
export function tellable(handle: HandleParts, path: string): (place: WorkspacePath) => boolean {
  const { caller } = handle.running;
  const { workspace } = caller.place;
  const start = resolveWorkspacePath(workspace, path);
  if (!start.ok) throw new Refusal(start.denial);
  const { isolationLevel } = caller.session;
  const exclusions = exclusionsOf({ workspace, isolationLevel, mayRead: mayRead(handle) }, start.value);
  const isWhole = start.value.root === "service" && start.value.path === ".";
  return (place) =>
    (liesBelow(start.value, place) || (isWhole && place.root === "project")) && exclusions.mayRead(place);
}

interface Wanted {
  readonly path: string;
  readonly query: TextsQuery;
  readonly take: (file: string, text: string) => void;
}

async function takeTexts(handle: HandleParts, { path, query, take }: Wanted): Promise<{ readonly read: number }> {
  const mayTell = tellable(handle, path);
  const turn = sharedTurns();
  let read = 0;
  let left = query.totalBytesMax;
  for (const file of query.files) {
    if (left <= 0) break;
    if (await turn()) throwIfCancelled(handle.signal);
    const text = await textOf(handle, mayTell, { file, bytesMax: query.bytesMax });
    if (text.kind === "none") continue;
    read += 1;
    left -= text.text.length;
    take(file, text.text);
  }
  return { read };
}

/** Bytes of a file whose syntax is looked at. */
const SOURCE_BYTES_MAX = MIB;

interface OneFile {
  readonly file: string;
  readonly bytesMax: number;
}

async function textOf(
  handle: HandleParts,
  mayTell: (place: WorkspacePath) => boolean,
  wanted: OneFile,
): Promise<CodeText> {
  const shown = await shownOf(handle, mayTell, wanted);
  return shown.kind === "none" ? shown : { kind: "text", text: shown.shown.bytes.toString("utf8") };
}

/** The bytes of a file, and how they are shown; or why they are not. */
async function shownOf(
  handle: HandleParts,
  mayTell: (place: WorkspacePath) => boolean,
  { file, bytesMax }: OneFile,
): Promise<ShownFile | Extract<CodeText, { kind: "none" }>> {
  const { running } = handle;
  const { caller, redaction } = running;
  const resolved = resolveWorkspacePath(caller.place.workspace, file);
  if (!resolved.ok) throw new Refusal(resolved.denial);
  const place = resolved.value;
  if (!mayTell(place)) return { kind: "none", why: "absent" };
  const read = readPlace(caller.place.roots, place);
  if (typeof read === "string") return { kind: "none", why: REASONS[read] ?? "absent" };
  if (read.byteLength > bytesMax) return { kind: "none", why: "too_large" };
  const bytes = Buffer.from(read); // others may read meanwhile
  await redaction.hiddenAhead(bytes);
  const hidden = redaction.hidden(bytes);
  // Whatever is told comes from the whole file: what is hidden there counts, and labels the answer as a read does.
  if (hidden.length > 0) redaction.bytes(bytes);
  return { kind: "shown", bytes, shown: shownBytes(bytes, hidden) };
}

const REASONS: Readonly<Record<string, "binary" | "too_large">> = { binary: "binary", tooLarge: "too_large" };
