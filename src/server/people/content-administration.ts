/**
 * Performs the operator's acts on stored content: store, read, collect, and rebuild references.
 *
 * References are brought in line with the ledger. Every act that changes something is recorded.
 */

import type { Clock } from "../../base/clock.ts";
import { usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { BlockMemory, CollectionReport, MaintainedContentStore } from "../../cas/content-store.ts";
import { BY_OPERATOR } from "../../ledger/actors.ts";
import type { EventSink, EventType } from "../../model/outcome/event.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { HASH_PATTERN, type StoredContent } from "../../model/work/content.ts";
import { namedContent } from "../ledger/content-verification.ts";
import { withLedgerReader } from "../ledger/ledger-reader.ts";
import { workspaceDirectory } from "../workspace/workspace-catalog.ts";

/** What a content administration works on. */
export interface ContentAdministrationParts {
  readonly content: MaintainedContentStore;
  readonly ledger: EventSink;
  readonly clock: Clock;
  readonly stateDirectory: string;
}

/** References that were added and removed. */
export interface RebuiltReferences {
  readonly added: number;
  readonly removed: number;
}

/** The operator's acts on the content of one state directory. */
export class ContentAdministration {
  readonly #parts: ContentAdministrationParts;

  constructor(parts: ContentAdministrationParts) {
    this.#parts = parts;
  }

  /** Stores content for a user in a workspace, whose sessions can fetch and publish it then. */
  async put(
    chunks: AsyncIterable<Uint8Array>,
    { userId, workspace }: { readonly userId: string; readonly workspace: string },
    signal: AbortSignal,
  ): Promise<StoredContent> {
    const { content, clock } = this.#parts;
    const owner = { userId, workspace: await workspaceDirectory(workspace) };
    const nowMs = clock.nowMs();
    const source = { origin: "operator", timestamp: new Date(nowMs).toISOString() };
    const staged = await content.stage(chunks, {}, signal);
    try {
      const stored = await staged.commit({
        owner,
        label: { trustLevel: "user", dataClass: "internal", source },
        nowMs,
      });
      await this.#record("content_stored", { contentHash: stored.hash, sizeBytes: stored.sizeBytes, ...owner });
      return stored;
    } finally {
      await staged.discard();
    }
  }

  /**
   * Verified bytes of stored content, whoever stored it.
   * @throws KernelError USAGE for what is no hash; ToolFailure CONTENT_NOT_FOUND and, while iterating, CONTENT_CORRUPT
   */
  async get(
    hash: string,
    memory: BlockMemory,
  ): Promise<{ readonly sizeBytes: number; readonly chunks: AsyncIterable<Uint8Array> }> {
    if (!HASH_PATTERN.test(hash))
      throw usageError(`\`${hash}\` is no hash; give 64 hexadecimal digits, as \`handrail cas ls\` shows`);
    const sizeBytes = await (await this.#parts.content.maintenance()).sizeOf(hash);
    if (sizeBytes === undefined) {
      throw new ToolFailure(
        "CONTENT_NOT_FOUND",
        `there is no content \`${hash}\``,
        "`handrail cas ls` lists what is stored",
      );
    }
    return { sizeBytes, chunks: this.#parts.content.read(hash, { offset: 0, length: sizeBytes }, memory) };
  }

  /** Removes what nothing refers to and what is older than `graceMs`; in a dry run it is only counted. */
  async collect(graceMs: number, dryRun: boolean): Promise<CollectionReport> {
    const { content, clock } = this.#parts;
    const report = await (await content.maintenance()).collect(graceMs, clock.nowMs(), dryRun);
    if (!dryRun) await this.#record("content_collected", { ...report, graceMs });
    return report;
  }

  /** Makes the references those that the ledger has; those younger than `graceMs` stay. */
  async rebuildReferences(graceMs: number): Promise<RebuiltReferences> {
    const { content, clock, stateDirectory } = this.#parts;
    const maintenance = await content.maintenance();
    return withLedgerReader(stateDirectory, async (ledger) => {
      const rebuilt = await maintenance.rebuildReferences(namedContent(ledger), graceMs, clock.nowMs());
      await this.#record("content_references_rebuilt", { ...rebuilt });
      return rebuilt;
    });
  }

  async #record(type: EventType, payload: JsonObject): Promise<void> {
    const { ledger, clock } = this.#parts;
    await ledger.record({ type, ...BY_OPERATOR, timeMs: clock.nowMs(), payload }, "durable");
  }
}
