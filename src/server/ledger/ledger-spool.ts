/**
 * Writes the spool on the main thread.
 *
 * Buffered events become frames, one write takes all of a turn, and the worker is told later how far to read. A spool
 * that cannot be written takes nothing until the ledger holds all of it and it is cleared. Meanwhile its events go to
 * the worker, who acknowledges them himself.
 *
 * INVARIANT: counters ascend in the order of recording, and never start again while the instance lives.
 *
 * INVARIANT: the spool is cleared only when the ledger holds all of it.
 */
import { KernelError } from "../../base/errors.ts";
import { LEDGER_SPOOL_BYTES_MAX } from "../../base/limits.ts";
import type { PendingEntry } from "../../ledger/chain.ts";
import { BYTES_PER_CHARACTER, FRAME_OVERHEAD_BYTES, FrameWriter, frameBody } from "../../ledger/spool.ts";
import type { SpoolStore, SpoolWriter } from "../../ledger/spool-store.ts";
import type { SpoolExtent } from "./ledger-messages.ts";
import { LEDGER_SPOOL_CHUNK_BYTES } from "./limits.ts";

/** Spooled events that wait to be sent to the writer: more make its transactions no cheaper. */
const LEDGER_SPOOL_UNSENT_MAX = 256;

/** The spool of this instance. */
export class LedgerSpool {
  private readonly store: SpoolStore;
  private readonly instanceId: string;
  private readonly bytesMax: number;
  private writer: SpoolWriter | undefined;
  private counter = 0;
  private generation = 1;
  /** Frames of this turn. */
  private readonly frames = new FrameWriter();
  private framesCount = 0;
  private unsent = 0;
  private sentBytes = 0;
  /** It could not be made or written; tried again once the worker wrote something. */
  private failed = false;

  /** @param bytesMax size from which on it takes nothing until it was cleared */
  constructor(store: SpoolStore, instanceId: string, bytesMax: number = LEDGER_SPOOL_BYTES_MAX) {
    this.store = store;
    this.instanceId = instanceId;
    this.bytesMax = bytesMax;
  }

  /** Counter of the last event that was taken. */
  get last(): number {
    return this.counter;
  }

  /** Whether there is something that the ledger may not hold. */
  get dirty(): boolean {
    return this.length > 0 || this.writer?.sound() === false;
  }

  /** How much the worker may read. */
  get extent(): SpoolExtent {
    return { generation: this.generation, bytes: this.length };
  }

  /** Whether something was spooled that the worker has not been told to read. */
  get hasUnsent(): boolean {
    return this.length > this.sentBytes;
  }

  /** Whether so much waits that it should be sent at once. */
  get shouldSend(): boolean {
    return this.unsent >= LEDGER_SPOOL_UNSENT_MAX;
  }

  /** Takes an event, to be written by the next `write`; says no when it has to go to the worker. */
  take(entry: PendingEntry): boolean {
    if (this.failed || entry.durability === "durable" || entry.intent || entry.closes !== 0) return false;
    const body = frameBody(this.counter + 1, entry);
    const bytesMax = body.length * BYTES_PER_CHARACTER + FRAME_OVERHEAD_BYTES;
    if (bytesMax > LEDGER_SPOOL_CHUNK_BYTES || this.length + this.frames.length + bytesMax > this.bytesMax)
      return false;
    this.counter += 1;
    this.frames.add(body);
    this.framesCount += 1;
    return true;
  }

  /** Writes what was taken in this turn. @returns whether it stands in the spool now */
  write(): boolean {
    const frames = this.frames.take();
    const count = this.framesCount;
    this.framesCount = 0;
    if (count === 0) return true;
    try {
      this.writer ??= this.store.create(this.instanceId);
      this.writer.append(frames);
      this.unsent += count;
      return true;
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      this.failed = true;
      return false;
    }
  }

  /** Makes what was spooled durable, where the worker is not there to do it. @throws KernelError when that fails */
  sync(): void {
    if (this.length > 0) this.store.sync(this.instanceId);
  }

  /** The worker was told to read up to `extent`. */
  sent(): void {
    this.unsent = 0;
    this.sentBytes = this.length;
  }

  /** The worker is gone, and what it was told with it. */
  unsend(): void {
    this.sentBytes = 0;
  }

  /** The ledger holds the spool up to `extent`. */
  held({ generation, bytes }: SpoolExtent): void {
    const all = this.length === 0 ? this.failed : generation === this.generation && bytes === this.length;
    if (!all) return;
    try {
      this.writer?.clear();
      this.failed = false;
      this.sentBytes = 0;
      this.generation += 1;
    } catch (error) {
      // The ledger holds it, so that nothing is lost: it only takes no more until clearing it works.
      if (!(error instanceof KernelError)) throw error;
      this.failed = true;
    }
  }

  /** Gives the file back; the worker has removed it, or it stays for the next kernel. */
  close(): void {
    this.writer?.close();
    this.writer = undefined;
    this.failed = true;
  }

  private get length(): number {
    return this.writer?.length() ?? 0;
  }
}
