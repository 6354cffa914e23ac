/**
 * Reads the spool in the ledger's worker, in order, and tracks how far the ledger holds it.
 *
 * It reads what it was told to. It trusts the extents that the main thread tells, not the bytes. A spool that is
 * damaged under a living kernel takes no further part: everything is refused until the kernel is restarted, which
 * recovers what can be read and keeps the file.
 */
import { storeCorrupt } from "../../base/errors.ts";
import type { BatchEvent } from "../../ledger/ledger.ts";
import type { SpoolMark } from "../../ledger/ledger-store.ts";
import { decodeFrames, type SpooledEntry } from "../../ledger/spool.ts";
import type { SpoolStore } from "../../ledger/spool-store.ts";
import type { SentEvent, SpoolExtent } from "./ledger-messages.ts";
import { LEDGER_SPOOL_CHUNK_BYTES } from "./limits.ts";

/** What a worker has read of its instance's spool. */
export class SpoolIntake {
  private readonly spools: SpoolStore;
  private readonly instanceId: string;
  /** What the ledger holds. */
  private held: SpoolExtent = { generation: 0, bytes: 0 };
  /** Up to where the main thread has spooled. */
  private told: SpoolExtent = { generation: 0, bytes: 0 };
  /** Counter up to which the ledger holds what was spooled. */
  private through = 0;
  /** Of the batch that is being written. */
  private readBytes = 0;
  private readThrough = 0;
  private everUsed = false;

  constructor(spools: SpoolStore, instanceId: string) {
    this.spools = spools;
    this.instanceId = instanceId;
  }

  /** Whether the spool holds something that the ledger does not. */
  get waiting(): boolean {
    return this.told.bytes > this.held.bytes;
  }

  /** Whether there may be a spool, or the mark of one. */
  get used(): boolean {
    return this.everUsed;
  }

  /** Bytes that were spooled and that the ledger does not hold. */
  get unreadBytes(): number {
    return this.told.bytes - this.held.bytes;
  }

  /** The main thread has spooled this much. */
  extend(extent: SpoolExtent): void {
    this.everUsed = true;
    this.told = extent;
    if (extent.generation === this.held.generation) return;
    // The main thread clears a spool only once the ledger holds all of it, so that nothing unread is skipped here.
    this.held = { generation: extent.generation, bytes: 0 };
    this.readBytes = 0;
  }

  /**
   * The next events: spooled ones first where they were recorded first, and of `queue` those whose turn it is.
   * @throws KernelError STORE_CORRUPT when the spool does not hold what was spooled
   */
  before(queue: readonly SentEvent[]): readonly BatchEvent[] {
    const spooled = this.waiting ? this.read() : [];
    const last = spooled.at(-1)?.counter ?? this.through;
    const complete = this.readBytes === this.told.bytes;
    const events: BatchEvent[] = [];
    let next = 0;
    for (const { entry, after } of queue) {
      if (!complete && after > last) break;
      for (let frame = spooled[next]; frame !== undefined && frame.counter <= after; frame = spooled[++next])
        events.push(frame);
      events.push({ entry, counter: 0 });
      this.readThrough = Math.max(this.readThrough, after);
    }
    events.push(...spooled.slice(next));
    return events;
  }

  /** How far the ledger will hold the spool with this batch; `undefined` when the batch changes nothing about that. */
  mark(): SpoolMark | undefined {
    if (this.readThrough <= this.through) return undefined;
    this.everUsed = true;
    return { instanceId: this.instanceId, through: this.readThrough };
  }

  /** The batch was committed. */
  commit(): SpoolExtent {
    this.through = this.readThrough;
    this.held = { generation: this.held.generation, bytes: this.readBytes };
    return this.held;
  }

  /** The batch was not committed: it is read again. */
  rollBack(): void {
    this.readThrough = this.through;
    this.readBytes = this.held.bytes;
  }

  private read(): readonly SpooledEntry[] {
    const from = this.held.bytes;
    const wanted = Math.min(LEDGER_SPOOL_CHUNK_BYTES, this.told.bytes - from);
    const bytes = this.spools.read(this.instanceId, from, wanted);
    const { spooled, damaged, bytes: used } = decodeFrames(bytes ?? new Uint8Array(), this.through);
    const last = spooled.at(-1);
    const whole = used === this.told.bytes - from || wanted < this.told.bytes - from;
    if (bytes?.byteLength !== wanted || damaged > 0 || last === undefined || !whole) {
      const advice = "nothing was deleted: restart the kernel, which recovers what can be read and keeps the file";
      throw storeCorrupt(`the spool in the state directory is damaged; ${advice}`);
    }
    this.readBytes = from + used;
    this.readThrough = Math.max(this.readThrough, last.counter);
    return spooled;
  }
}
