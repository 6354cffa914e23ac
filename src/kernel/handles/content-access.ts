/**
 * Creates the content handle of one call.
 *
 * It reaches what the caller stored and the artifacts of its workspace, as far as the call's analysis, its lease and
 * policy go.
 *
 * INVARIANT: what the caller may not read is answered exactly as what does not exist. INVARIANT: nothing that holds a
 * definite secret is stored, nor anything that holds a secret of the kernel itself, such as the session token. Content
 * is never stored altered.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { KIB } from "../../base/bytes.ts";
import { blake3Hex } from "../../base/hash.ts";
import type { AnnouncedContent, ContentStore } from "../../cas/content-store.ts";
import { type FoundSecrets, labelResult } from "../../flow/labels.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import { combineMarks, type Label, type Mark } from "../../model/outcome/label.ts";
import {
  type Artifact,
  type ArtifactWish,
  type ContentAccess,
  type ContentName,
  contentResourceId,
  type FoundContent,
  type StoredContent,
} from "../../model/work/content.ts";
import { contentNotFound } from "../../model/work/content-failures.ts";
import type { ByteRedactionStream } from "../../redact/redact.ts";
import type { Running } from "../call/stages.ts";
import { type ReceivedUpload, uploadFailure } from "../call/transfer.ts";
import { findReadable } from "../judge/content/readable-content.ts";
import type { CallRedaction } from "../redaction/redaction.ts";
import type { HandleParts } from "./handle-parts.ts";

/** The content handle of a call. */
export function createContentAccess(handle: HandleParts): ContentAccess {
  const { kernel, transfer } = handle;
  const { content } = kernel.parts;
  // What this call was told it may read; a tool that makes up the description of other content gets nothing for it.
  const told = new WeakSet<FoundContent>();
  return {
    find: async (name) => {
      requireNamed(handle.running, name, "read");
      const found = Object.freeze(await readable(handle, name));
      told.add(found);
      return found;
    },
    read: async (found, { offset, length }) => {
      requireTold(handle.running, told, found);
      const pieces: Uint8Array[] = [];
      for await (const piece of content.read(found.hash, { offset, length })) pieces.push(piece);
      return Buffer.concat(pieces);
    },
    stream: async (found, { offset, length }) => {
      requireTold(handle.running, told, found);
      const lengthBytes = Math.max(0, Math.min(length, found.sizeBytes - offset));
      if (transfer)
        transfer.opened = {
          sizeBytes: found.sizeBytes,
          lengthBytes,
          chunks: content.read(found.hash, { offset, length }),
        };
    },
    put: (bytes) => put(handle, bytes),
    keepAnswer: (bytes) => keepAnswer(handle, bytes),
    commitUpload: () => commitUpload(handle),
    publish: (wish) => handle.running.run.changes.during(() => publish(handle, wish)),
  };
}

async function readable({ kernel, running, rules }: HandleParts, name: ContentName): Promise<FoundContent> {
  const found = await findReadable(kernel.parts.content, name, {
    session: running.session,
    judge: rules.judgeArtifact,
  });
  if (found === undefined) throw contentNotFound(name);
  return found;
}

async function put(handle: HandleParts, bytes: Uint8Array): Promise<StoredContent> {
  requireNamed(handle.running, { kind: "content", hash: blake3Hex(bytes) }, "write");
  const incoming = { chunks: once(bytes), announced: {}, redaction: handle.running.redaction };
  return commit(handle, await receiveContent(handle.kernel.parts.content, incoming, handle.signal));
}

/** What a stranger answers with has a hash that no analysis can name; so only tools of such servers store like this. */
async function keepAnswer(handle: HandleParts, bytes: Uint8Array): Promise<StoredContent> {
  const { kernel, running, signal } = handle;
  if (running.tool.isUpstream !== true) requireNamed(running, { kind: "content", hash: blake3Hex(bytes) }, "write");
  const incoming = { chunks: once(bytes), announced: {}, redaction: running.redaction };
  return commit(handle, await receiveContent(kernel.parts.content, incoming, signal));
}

/** Stores what the call made of content with `label`, for its caller, under the hash that comes of it. */
export async function storeOwn(handle: HandleParts, bytes: Uint8Array, label: Label): Promise<StoredContent> {
  const { kernel, running, signal } = handle;
  const incoming = { chunks: once(bytes), announced: {}, redaction: running.redaction };
  const received = await receiveContent(kernel.parts.content, incoming, signal);
  return commit(handle, received, [running.caller.mark, label]);
}

async function commitUpload(handle: HandleParts): Promise<StoredContent | undefined> {
  const upload = handle.transfer?.upload;
  if (upload === undefined) return undefined;
  if (upload instanceof Error) throw uploadFailure(upload);
  requireNamed(handle.running, { kind: "content", hash: upload.staged.hash }, "write");
  return commit(handle, upload);
}

async function commit(
  handle: HandleParts,
  { staged, found }: ReceivedUpload,
  sources: readonly Mark[] = [handle.running.caller.mark],
): Promise<StoredContent> {
  try {
    const label = labelOf(handle, found, sources);
    const holding = { owner: ownerOf(handle), label, nowMs: handle.kernel.parts.clock.nowMs() };
    return await handle.running.run.changes.during(() => staged.commit(holding));
  } finally {
    await staged.discard();
  }
}

async function publish(handle: HandleParts, wish: ArtifactWish): Promise<Artifact> {
  requireNamed(handle.running, { kind: "artifact", id: wish.id }, "write");
  const name: ContentName = { kind: "content", hash: wish.contentHash };
  const content = await readable(handle, name); // CTR-0020
  // Its category and metadata come from the agent, who may have seen more than the content shows.
  const label: Label = { ...content.label, ...combineMarks(content.label, handle.running.caller.mark) };
  const { agentId, id: sessionId } = handle.running.session;
  const publisher = { ...ownerOf(handle), agentId, sessionId, label, nowMs: handle.kernel.parts.clock.nowMs() };
  const published = await handle.kernel.parts.content.publish(wish, publisher);
  if (published.kind === "published") return published.artifact;
  if (published.kind === "missing") throw contentNotFound(name);
  throw new ToolFailure(
    "ARTIFACT_EXISTS",
    `the artifact \`${wish.id}\` was published already with other content, and artifacts never change`,
    "publish under a new id",
  );
}

function ownerOf({ running: { session } }: HandleParts) {
  return { userId: session.userId, workspace: session.serviceRoot };
}

/**
 * Content that an agent sends has the label that the tool declares for it, combined with what the agent has seen; what
 * looks like a secret in it makes it sensitive, because it is handed out as it was stored.
 */
function labelOf({ kernel, running }: HandleParts, found: FoundSecrets, sources: readonly Mark[]): Label {
  const { mark } = running.caller;
  return labelResult({ tool: running.tool, mark, sources, found, nowMs: kernel.parts.clock.nowMs() }).label;
}

/** A tool may touch only what its analysis named: what was not analysed was never judged. */
function requireNamed({ accesses, tool }: Running, name: ContentName, effect: "read" | "write"): void {
  const id = contentResourceId(name);
  if (
    accesses.some(
      (access) => access.resource.kind === "artifact" && access.resource.id === id && access.effect === effect,
    )
  )
    return;
  throw new Refusal({
    layer: "scope",
    reason: "permission_denied",
    ruleId: `ANALYSE:${tool.name}`,
    message: `\`${tool.name}\` tried ${effect} access to content that its analysis did not name; tell the tool's author`,
  });
}

/** Bytes are handed out only for what `find` answered, unchanged: everything about who may read was judged there. */
function requireTold({ tool }: Running, told: WeakSet<FoundContent>, found: FoundContent): void {
  if (told.has(found)) return;
  throw new Refusal({
    layer: "scope",
    reason: "permission_denied",
    ruleId: `ANALYSE:${tool.name}`,
    message: `\`${tool.name}\` tried to read content that it did not find by its name; tell the tool's author`,
  });
}

const SECRET_IN_CONTENT: Denial = {
  layer: "flow",
  reason: "flow_secret_content",
  ruleId: "FC:secret-content",
  message:
    "the content holds a secret, and content is stored as it is or not at all; take the secret out and send it again",
  fix: "send the content without the secret; `handrail redact --explain` says where it stands",
};

/** Content that comes in, what its sender said of it, and what finds secrets in it. */
export interface IncomingContent {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly announced: AnnouncedContent;
  readonly redaction: CallRedaction;
}

/**
 * Receives content as it is into a temporary place.
 * @throws Refusal as soon as a definite secret stands in them, wherever they are cut; and what `stage` throws
 */
export async function receiveContent(
  content: Pick<ContentStore, "stage">,
  { chunks, announced, redaction }: IncomingContent,
  signal: AbortSignal,
): Promise<ReceivedUpload> {
  const stream = redaction.byteStream();
  const staged = await content.stage(withoutSecrets(chunks, stream), announced, signal);
  return { staged, found: foundIn(stream) };
}

async function* withoutSecrets(
  chunks: AsyncIterable<Uint8Array>,
  stream: ByteRedactionStream,
): AsyncGenerator<Uint8Array> {
  const refuse = () => {
    if (foundIn(stream).definite > 0) throw new Refusal(SECRET_IN_CONTENT);
  };
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.byteLength; from += LOOKED_AT_BYTES) {
      if (from > 0) await nextTurn();
      stream.push(chunk.subarray(from, from + LOOKED_AT_BYTES));
      refuse();
    }
    yield chunk;
  }
  stream.end();
  refuse();
}

/** Bytes that are looked through for secrets before others have their turn. */
const LOOKED_AT_BYTES = 64 * KIB;

function foundIn({ counts }: ByteRedactionStream): FoundSecrets {
  let [definite, probable] = [0, 0];
  for (const count of counts.values()) {
    definite += count.definite;
    probable += count.probable;
  }
  return { definite, probable };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
