/**
 * Makes what gives vectors to an index, by the configuration in force: a model, and perhaps Chroma.
 *
 * INVARIANTS: both are reached through the gate of models alone, and every request is recorded as the kernel's own.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../base/json.ts";
import { type ChromaServer, chromaOf } from "../../config/sections/tools/models.ts";
import type { KernelParts } from "../../kernel/index.ts";
import type { VectorStore } from "../../knowledge/vector-store.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { Redactor } from "../../redact/redact.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import type { VectorMaker } from "./embedding.ts";
import { ReachRecord } from "./reach-record.ts";

/** Collections that are open at once. */
const STORES_MAX = 16;

/** What vectors are made with. */
export interface VectorMakerParts {
  readonly live: { readonly operator: Pick<OperatorDirectory, "settings"> };
  readonly redactor: () => Redactor | Promise<Redactor>;
  readonly models: KernelParts["models"];
  readonly brokerBy: KernelParts["secrets"]["brokerBy"];
  readonly ledger: EventSink;
  readonly nowMs: () => number;
  readonly onInternalError: (error: unknown) => void;
}

/** What makes vectors for indexes, and the end of it. */
export interface VectorMakers {
  /** For the index of that name; nothing where no model is named. */
  readonly of: (index: string) => VectorMaker | undefined;
  /** Records what was not recorded yet. */
  readonly close: () => Promise<void>;
}

/** Opens nothing yet. */
export function vectorMakers(parts: VectorMakerParts): VectorMakers {
  const { live, models, redactor, brokerBy } = parts;
  const record = new ReachRecord(parts);
  const stores = new Map<string, Promise<VectorStore>>();
  const asking = async (signal: AbortSignal) => {
    const caller = await models.open();
    const broker = brokerBy(await redactor());
    const judge = () => Promise.resolve();
    return { caller, rules: { judge, record: record.take, broker, signal } };
  };
  const storeOf = ({ service, path }: ChromaServer, collection: string): VectorStore => {
    const ask = async (below: string, body: JsonObject, signal: AbortSignal) => {
      const { caller, rules } = await asking(signal);
      return await caller.ask(service, { path: `${path}${below}`, body }, rules);
    };
    const name = JSON.stringify([service, path, collection]);
    const opened = () => {
      let store = stores.get(name);
      if (store === undefined) {
        store = import("../../stores/chroma/chroma-vectors.ts").then(
          ({ ChromaVectors }) => new ChromaVectors({ ask, collection }),
        );
        if (stores.size >= STORES_MAX) stores.clear(); // they are opened again where they are still used
        stores.set(name, store);
      }
      return store;
    };
    return {
      open: async (signal) => (await opened()).open(signal),
      put: async (vectors, signal) => (await opened()).put(vectors, signal),
      closest: async (vector, count, signal) => (await opened()).closest(vector, count, signal),
      remove: async (keys, signal) => (await opened()).remove(keys, signal),
      removeFiles: async (files, signal) => (await opened()).removeFiles(files, signal),
    };
  };
  return {
    of(index) {
      const { knowledge } = live.operator.settings;
      const { embeddings } = knowledge;
      const provider = embeddings && models.provider(embeddings.provider);
      if (embeddings === undefined || provider === undefined) return undefined;
      const { model } = embeddings;
      const name = `${provider.name}/${model}`;
      const chroma = chromaOf(knowledge);
      return {
        name,
        ...(chroma && { store: storeOf(chroma, collectionOf(index, name)) }),
        async embed(texts, signal) {
          const { caller, rules } = await asking(signal);
          return await caller.embed(provider, { model, texts }, rules);
        },
      };
    },
    close: () => record.close(),
  };
}

/** A collection holds the vectors of one index by one model: others have other dimensions. */
function collectionOf(index: string, model: string): string {
  return `handrail-${createHash("sha256").update(`${index}\n${model}`).digest("hex").slice(0, 32)}`;
}
