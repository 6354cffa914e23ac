/** The knowledge of workspaces; loaded and indexed with the first question. */
import { join } from "node:path";
import { blake3Hex } from "../../base/hash.ts";
import type { KernelParts, OpenWorkspace } from "../../kernel/index.ts";
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
export type KnowledgeParts = Omit<WorkspaceKnowledgeParts, "directory"> & { readonly stateDirectory: string };

/** Opens nothing yet. */
export function openKnowledge(given: KnowledgeParts): OpenKnowledge {
  const { stateDirectory, redactor, key, embedder, tell, onInternalError } = given;
  const parts = { redactor, key, tell, onInternalError, ...(embedder && { embedder }) };
  const opened = new Map<string, Promise<WorkspaceKnowledge>>();
  const open = async (place: OpenWorkspace) => {
    const { WorkspaceKnowledge: Opened } = await import("./workspace-knowledge.ts");
    const name = blake3Hex(place.workspace.serviceRoot).slice(0, 32);
    return new Opened({ ...parts, directory: join(stateDirectory, "knowledge", name) }, place);
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
      if (opened.size >= OPEN_MAX) void closeOldest().catch(parts.onInternalError);
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
    },
  };
}
