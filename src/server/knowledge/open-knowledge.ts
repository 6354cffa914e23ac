/** The knowledge of workspaces; loaded and indexed with the first question. */
import { join } from "node:path";
import { blake3Hex } from "../../base/hash.ts";
import type { KernelParts, OpenWorkspace } from "../../kernel/index.ts";
import type { VectorMakerParts, VectorMakers } from "./vector-makers.ts";
import type { WorkspaceKnowledge, WorkspaceKnowledgeParts } from "./workspace-knowledge.ts";

/** Workspaces whose indexes are open at once in one kernel; each has a thread. */
const OPEN_MAX = 4;

/** Knowledge of workspaces, and the end of it. */
export interface OpenKnowledge {
  readonly knowledge: NonNullable<KernelParts["knowledge"]>;
  /** The same, for the operator. */
  readonly of: (place: OpenWorkspace) => Promise<WorkspaceKnowledge>;
  /** Closes all indexes. */
  readonly close: () => Promise<void>;
}

/** What indexes are made with. */
export type KnowledgeParts = Omit<WorkspaceKnowledgeParts, "directory" | "embedder"> &
  VectorMakerParts & { readonly stateDirectory: string };

/** Opens nothing yet. */
export function openKnowledge(given: KnowledgeParts): OpenKnowledge {
  const { stateDirectory, redactor, key, tell, onInternalError } = given;
  const opened = new Map<string, Promise<WorkspaceKnowledge>>();
  let makers: VectorMakers | undefined;
  const open = async (place: OpenWorkspace) => {
    const [{ WorkspaceKnowledge: Opened }, { vectorMakers }] = await Promise.all([
      import("./workspace-knowledge.ts"),
      import("./vector-makers.ts"),
    ]);
    makers ??= vectorMakers(given);
    const embedder = makers.of;
    const name = blake3Hex(place.workspace.serviceRoot).slice(0, 32);
    const directory = join(stateDirectory, "knowledge", name);
    return new Opened({ redactor, key, tell, onInternalError, embedder, directory }, place);
  };
  const closeOldest = async () => {
    for (const [root, oldest] of opened) {
      opened.delete(root);
      await (await oldest).close();
      return;
    }
  };
  const of = async (place: OpenWorkspace) => {
    const root = place.workspace.serviceRoot;
    let known = opened.get(root);
    if (known === undefined) {
      if (opened.size >= OPEN_MAX) void closeOldest().catch(onInternalError);
      known = open(place);
      opened.set(root, known);
    }
    const knowledge = await known;
    knowledge.use(place);
    return knowledge;
  };
  return {
    knowledge: { of },
    of,
    async close() {
      const all = [...opened.values()];
      opened.clear();
      for (const one of all) await (await one).close();
      await makers?.close();
    },
  };
}
