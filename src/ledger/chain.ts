/**
 * From events to chained entries. Pure: the head and the random salts come in.
 *
 * INVARIANT: each entry carries the hash of the one before it, so that no entry can be changed, removed or inserted
 * without every later hash changing. INVARIANT: an intent is closed at most once.
 */
import { KIB, utf8 } from "../base/bytes.ts";
import { assert } from "../base/errors.ts";
import { blake3Digest, blake3Hex, blake3Salted } from "../base/hash.ts";
import type { RandomBytes } from "../base/ids.ts";
import { canonicalJson } from "../base/json.ts";
import { HASH_SIZE } from "../base/limits.ts";
import type { Durability, LedgerEvent } from "../model/outcome/event.ts";
import { encodeEntry } from "./entry.ts";
import type { AppendView, StoredEntry } from "./ledger-store.ts";

/** Bytes of one ledger payload; larger facts are recorded by digest and size. */
export const LEDGER_PAYLOAD_BYTES_MAX = 256 * KIB;

/** The hash before the first entry. */
export const GENESIS_HASH: Uint8Array = new Uint8Array(HASH_SIZE);

/** An event on its way to the chain: cheap to send to another thread. */
export interface PendingEntry {
  readonly eventType: string;
  readonly sessionId: string;
  readonly actor: string;
  readonly requestId: string;
  readonly timeMicros: number;
  /** Canonical JSON. */
  readonly payload: string;
  readonly durability: Durability;
  readonly intent: boolean;
  /** 0 when it closes no intent. */
  readonly closes: number;
}

/** The same with its payload as text or as UTF-8 bytes. */
export interface ReadyEntry extends Omit<PendingEntry, "payload"> {
  readonly payload: string | Uint8Array;
}

/**
 * `event`, ready for the chain. A payload beyond the limit is replaced by its digest and size.
 * @throws KernelError INTERNAL when the event has no encoding, such as a payload without canonical form
 */
export function pendingEntry(event: LedgerEvent, durability: Durability): PendingEntry {
  const text = canonicalJson(event.payload);
  const timeMicros = Math.max(0, Math.round(event.timeMs * 1000));
  // What could not be encoded is refused here, alone: later it would take the events beside it along.
  assert(Number.isSafeInteger(timeMicros), "the time of an event is a number");
  const isText = event.sessionId.isWellFormed() && event.actor.isWellFormed() && event.requestId.isWellFormed();
  assert(isText, "text of an event has no lone surrogates");
  return {
    eventType: event.type,
    sessionId: event.sessionId,
    actor: event.actor,
    requestId: event.requestId,
    timeMicros,
    payload: text.length * 3 > LEDGER_PAYLOAD_BYTES_MAX ? boundedPayload(text) : text,
    durability,
    intent: event.intent ?? false,
    closes: event.closes ?? 0,
  };
}

function boundedPayload(text: string): string {
  const bytes = utf8(text).byteLength;
  return bytes <= LEDGER_PAYLOAD_BYTES_MAX
    ? text
    : canonicalJson({ payload_omitted: { blake3: blake3Hex(text), bytes } });
}

/**
 * Entries for a batch of events, and the sequence each event got: 0 where it would close an intent that is not open.
 */
export interface ChainedBatch {
  readonly entries: readonly StoredEntry[];
  readonly sequences: readonly number[];
}

/** Who chains, and where salts come from. */
export interface Chainer {
  readonly instanceId: string;
  readonly random: RandomBytes;
}

/** Chains `pending` after the head of `view`. */
export function chainEntries(
  view: Pick<AppendView, "head" | "isOpen">,
  pending: readonly ReadyEntry[],
  { instanceId, random }: Chainer,
): ChainedBatch {
  const entries: StoredEntry[] = [];
  const closed = new Set<number>();
  const salts = random(HASH_SIZE * pending.length);
  let { sequence, hash } = view.head;
  const sequences = pending.map((event, index) => {
    if (event.closes !== 0 && (closed.has(event.closes) || !view.isOpen(event.closes))) return 0;
    closed.add(event.closes);
    sequence += 1;
    const salt = salts.subarray(index * HASH_SIZE, (index + 1) * HASH_SIZE);
    const stored = chainOne(event, { sequence, prevHash: hash, salt, instanceId });
    hash = stored.hash;
    entries.push(stored);
    return sequence;
  });
  return { entries, sequences };
}

interface Place {
  readonly sequence: number;
  readonly prevHash: Uint8Array;
  readonly salt: Uint8Array;
  readonly instanceId: string;
}

function chainOne(event: ReadyEntry, place: Place): StoredEntry {
  const { eventType, sessionId, actor, requestId, timeMicros, durability, intent, closes } = event;
  const { sequence, prevHash, salt, instanceId } = place;
  const payload = typeof event.payload === "string" ? Buffer.from(event.payload) : event.payload;
  const payloadDigest = blake3Salted(salt, payload);
  const names = { sessionId, actor, requestId, instanceId, eventType };
  const entry = encodeEntry({
    ...names,
    sequence,
    timeMicros,
    payloadDigest,
    payloadBytes: payload.byteLength,
    durability,
    intent,
    closes,
    prevHash,
  });
  const opened = intent ? { opensFor: instanceId } : {};
  const closing = closes === 0 ? {} : { closes };
  return { sequence, entry, hash: blake3Digest(entry), salt, payload, ...opened, ...closing };
}
