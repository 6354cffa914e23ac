/**
 * Creates the knowledge handle of one call, which finds only parts of files that the call may read.
 *
 * The index names chunks; their lines are read from the files as they are now. INVARIANT: a part is answered only if
 * zone, lease, mode and policy let this call read its file outright.
 */
import type { FoundChunk } from "../../../knowledge/knowledge-store.ts";
import { pathPrior } from "../../../knowledge/priors.ts";
import { questionTerms } from "../../../knowledge/terms.ts";
import { Refusal, ToolFailure } from "../../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../../model/place/access.ts";
import type {
  KnowledgeAccess,
  KnowledgeAnswer,
  KnowledgePart,
  KnowledgeQuestion,
} from "../../../model/place/knowledge.ts";
import { resolveWorkspacePath } from "../../../model/place/workspace.ts";
import { compileGlob } from "../../../names/glob.ts";
import type { HiddenRange } from "../../../text/hidden-range.ts";
import type { PlaceKnowledge } from "../../call/parts.ts";
import { leavesReading, unanalysed } from "../../judge/scope.ts";
import { isolationOf } from "../../judge/workspace-programs.ts";
import type { CallRedaction } from "../../redaction/redaction.ts";
import type { HandleParts } from "../handle-parts.ts";

/** Chunks that are looked at for one question: enough that some are left where most may not be read. */
const CHUNKS_MAX = 400;

/** Knowledge for one call. */
export function createKnowledge(handle: HandleParts): KnowledgeAccess {
  const { kernel, running } = handle;
  const { caller, tool, accesses } = running;
  return {
    async search(path, question) {
      const named = accesses.some(
        ({ resource, effect }) => resource.kind === "file" && resource.path === path && effect === "read",
      );
      if (!named) throw new Refusal(unanalysed(tool.name, "read"));
      const { knowledge } = kernel.parts;
      if (knowledge === undefined)
        throw new ToolFailure("NOT_SUPPORTED", "this kernel keeps no index of workspaces", "search with `search_file`");
      return await answerTo(handle, { knowledge: await knowledge.of(caller.place), path, question });
    },
  };
}

interface Asked {
  readonly knowledge: PlaceKnowledge;
  readonly path: string;
  readonly question: KnowledgeQuestion;
}

/** A file as it was when the answer was made. */
interface SeenFile {
  readonly bytes: Buffer;
  readonly hidden: readonly HiddenRange[];
}

async function answerTo(handle: HandleParts, { knowledge, path, question }: Asked): Promise<KnowledgeAnswer> {
  const { readPlace } = await import("../../../sandbox/search/indexed-files.ts");
  const terms = questionTerms(question.text);
  const found = await knowledge.find(terms, CHUNKS_MAX, question.text);
  const still = await handle.rules.recheck();
  if (!still.ok) throw new Refusal(still.denial);
  const mayAnswer = await filterOf(handle, path, question.glob);
  const ranked = found
    .map((chunk) => ({ ...chunk, score: chunk.score * pathPrior(chunk.path, terms) }))
    .sort((left, right) => right.score - left.score);
  const { redaction, caller } = handle.running;
  /** Several parts of one file are common: each file is read, and its secrets found, once for an answer. */
  const seen = new Map<string, SeenFile | undefined>();
  const fileAt = async (place: WorkspacePath): Promise<SeenFile | undefined> => {
    if (seen.has(place.path)) return seen.get(place.path);
    const read = readPlace(caller.place.roots, place);
    let file: SeenFile | undefined; // none: it has gone since it was indexed
    if (typeof read !== "string") {
      const bytes = Buffer.from(read); // others may read meanwhile
      await redaction.hiddenAhead(bytes);
      file = { bytes, hidden: redaction.hidden(bytes) };
    }
    seen.set(place.path, file);
    return file;
  };
  const parts: KnowledgePart[] = [];
  let truncated = false;
  for (const chunk of ranked) {
    const place: WorkspacePath = { root: "service", path: chunk.path };
    if (!mayAnswer(place)) continue;
    truncated = parts.length >= question.limit;
    if (truncated) break;
    const file = await fileAt(place);
    const part = file && partOf(chunk, file, redaction);
    if (part !== undefined) parts.push(part);
  }
  return { ...knowledge.state, parts, truncated };
}

/** The lines of a chunk as they are now, secrets as their markers; nothing where the file has become shorter. */
function partOf(
  chunk: FoundChunk,
  { bytes, hidden }: SeenFile,
  redaction: Pick<CallRedaction, "bytes">,
): KnowledgePart | undefined {
  const start = lineStart(bytes, chunk.firstLine);
  if (start >= bytes.length) return undefined;
  const end = lineStart(bytes, chunk.lastLine + 1);
  const { path, firstLine, lastLine, title, score } = chunk;
  const hasSecret = hidden.some((range) => range.end > start && range.start < end);
  // What is hidden there counts, as in a read: the answer is labelled by it.
  const shown = hasSecret ? Buffer.from(redaction.bytes(bytes, { start, end })) : bytes.subarray(start, end);
  return { path, firstLine, lastLine, title, text: shown.toString("utf8").replace(/\n$/, ""), score };
}

function lineStart(bytes: Buffer, line: number): number {
  let at = 0;
  for (let each = 1; each < line; each += 1) {
    const end = bytes.indexOf(LINE_END, at);
    if (end === -1) return bytes.length;
    at = end + 1;
  }
  return at;
}

const LINE_END = 0x0a;

/** Whether the call may be answered with a file. @throws ToolFailure for a glob that cannot be used */
async function filterOf(
  { running, rules }: HandleParts,
  path: string,
  glob: string | undefined,
): Promise<(place: WorkspacePath) => boolean> {
  const { exclusionsOf } = await import("../../../sandbox/search/tree/exclusions.ts");
  const { badGlob } = await import("../../../sandbox/search/failures.ts");
  const { caller, tool } = running;
  const { workspace } = caller.place;
  const resolved = resolveWorkspacePath(workspace, path);
  if (!resolved.ok) throw new Refusal(resolved.denial);
  const start = resolved.value;
  const test = glob === undefined ? undefined : compileGlob(glob);
  if (glob !== undefined && test === undefined) throw badGlob(glob);
  const { mayRead } = exclusionsOf(
    {
      workspace,
      isolationLevel: isolationOf(caller),
      mayRead(place) {
        const zone = workspace.zones.classify(place);
        if (zone === "secret" || zone === "managed") return false;
        return leavesReading(caller, tool.name, place) && rules.judgeTree(place, zone);
      },
    },
    start,
  );
  const within = start.path === "." ? "" : `${start.path}/`;
  return (place) => {
    if (place.path !== start.path && !place.path.startsWith(within)) return false;
    if (test !== undefined && !test(glob?.includes("/") ? place.path.slice(within.length) : nameOf(place.path)))
      return false;
    return mayRead(place);
  };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
