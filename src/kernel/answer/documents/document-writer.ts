/**
 * Keeps the documents of calls in the content store, as far as the operator wants them, and makes them durable.
 *
 * The call and its input are kept before the intent of an effect is recorded, its output before its outcome. They are
 * brought to disk while the ledger is, so that an effect waits for both at once. What only reads has its documents kept
 * together once it has ended; they are brought to disk a moment later, as its entries are.
 *
 * INVARIANT: no entry of the ledger names a document that is not kept, with a reference by which no collection takes
 * it.
 */
import type { JsonObject } from "../../../base/json.ts";
import type { EvidenceDocument, KeptDocuments } from "../../../cas/content-store.ts";
import type { KernelParts } from "../../call/parts.ts";
import type { CallDocuments, Granted } from "../../call/stages.ts";
import { type Answered, callDocument, inputDocument, outputDocument } from "./call-documents.ts";
import { ledgerRequestId } from "./ledger-request-id.ts";

/** Milliseconds after which documents of reads are brought to disk: half of what the ledger takes for its entries. */
const SYNC_AFTER_MS = 25;

/** Documents that entries of the ledger may name. */
export interface Kept {
  readonly hashes: CallDocuments;
  /** Resolves once they would survive a power failure; absent for those of a call that only reads: nobody waits. */
  readonly durable?: Promise<void>;
}

/** What a writer uses of the kernel. */
export type WriterParts = Pick<KernelParts, "content" | "clock" | "settings" | "argumentsKey" | "onInternalError">;

/** Writes the documents of one kernel's calls. */
export class DocumentWriter {
  readonly #parts: WriterParts;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Whether documents of the call are kept. */
  wants({ tool }: Pick<Granted, "tool">): boolean {
    const { documents } = this.#parts.settings;
    return documents === "all" || (documents === "effects" && tool.capability.effect !== "read");
  }

  /** Keeps a call with its input. @throws KernelError STORE_UNAVAILABLE, and then nothing is kept */
  async call(granted: Granted, facts: JsonObject): Promise<Kept> {
    const [input, call] = this.#made(granted, facts);
    const kept = await this.#keep(granted, [input, call]);
    return { hashes: { call: call.hash, input: input.hash }, durable: begun(kept) };
  }

  /** Keeps the output of a call that was kept. @throws KernelError STORE_UNAVAILABLE */
  async output(granted: Granted, { call }: CallDocuments, outcome: Answered): Promise<Kept> {
    const output = outputDocument(granted.tool.name, call, outcome);
    const kept = await this.#keep(granted, [output]);
    return { hashes: { call, output: output.hash }, durable: begun(kept) };
  }

  /** Keeps a call that only read with its input and output. @throws KernelError STORE_UNAVAILABLE */
  async whole(granted: Granted, facts: JsonObject, outcome: Answered): Promise<Kept> {
    const [input, call] = this.#made(granted, facts);
    const output = outputDocument(granted.tool.name, call.hash, outcome);
    const kept = await this.#keep(granted, [input, call, output]);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      kept.sync().catch(this.#parts.onInternalError);
    }, SYNC_AFTER_MS).unref();
    return { hashes: { call: call.hash, input: input.hash, output: output.hash } };
  }

  #made(granted: Granted, facts: JsonObject): readonly [EvidenceDocument, EvidenceDocument] {
    const input = inputDocument(granted, facts, this.#parts.argumentsKey);
    return [input, callDocument(granted, input, facts)];
  }

  #keep({ session, requestId }: Granted, documents: readonly EvidenceDocument[]): Promise<KeptDocuments> {
    const { content, clock } = this.#parts;
    const reference = { sessionId: session.id, requestId: ledgerRequestId(requestId) };
    return content.keepDocuments(documents, reference, clock.nowMs());
  }
}

/** Begins to make documents durable; whoever waits for it is told of a failure. */
function begun(kept: KeptDocuments): Promise<void> {
  const durable = kept.sync();
  durable.catch(() => undefined);
  return durable;
}
