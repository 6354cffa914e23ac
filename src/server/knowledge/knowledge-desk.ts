/** The operator's side of indexes: how far they are, making them anew, taking them out and in. */
import { realpathSync, statSync } from "node:fs";
import type { WorkspaceCatalog } from "../../kernel/index.ts";
import { workspaceDirectory } from "../workspace/workspace-catalog.ts";
import type { OpenKnowledge } from "./open-knowledge.ts";
import type { IndexStatus, WorkspaceKnowledge } from "./workspace-knowledge.ts";

/** What the desk works with. */
export interface KnowledgeDeskParts {
  readonly workspaces: WorkspaceCatalog;
  readonly knowledge: Pick<OpenKnowledge, "of">;
}

/** An exported index, and how much is in it. */
export interface ExportedIndex extends IndexStatus {
  readonly file: string;
  readonly sizeBytes: number;
}

/** Indexes of workspaces, for the operator. */
export class KnowledgeDesk {
  readonly #parts: KnowledgeDeskParts;

  constructor(parts: KnowledgeDeskParts) {
    this.#parts = parts;
  }

  /** How far the index of the workspace at `directory` is; nothing is indexed for it. */
  async status(directory: string): Promise<IndexStatus> {
    return await (await this.#of(directory)).status();
  }

  /** Indexes every file again. @param onProgress told now and then how far it is */
  async rebuild(directory: string, onProgress: (status: IndexStatus) => void): Promise<IndexStatus> {
    const knowledge = await this.#of(directory);
    return await watched(knowledge, onProgress, () => knowledge.rebuild());
  }

  /** Brings the index up to date and writes it into a new file. */
  async exportTo(directory: string, file: string): Promise<ExportedIndex> {
    const knowledge = await this.#of(directory);
    await knowledge.exportTo(file);
    return { ...(await knowledge.status()), file: realpathSync(file), sizeBytes: statSync(file).size };
  }

  /** Puts an exported index in place, then indexes the files that differ from it. */
  async importFrom(directory: string, file: string, onProgress: (status: IndexStatus) => void): Promise<IndexStatus> {
    const knowledge = await this.#of(directory);
    return await watched(knowledge, onProgress, () => knowledge.importFrom(file));
  }

  async #of(directory: string): Promise<WorkspaceKnowledge> {
    const serviceRoot = workspaceDirectory(directory);
    const place = await this.#parts.workspaces.open({ serviceRoot, projectRoot: serviceRoot });
    return await this.#parts.knowledge.of(place);
  }
}

/** Milliseconds between two words of progress. */
const PROGRESS_MS = 1000;

async function watched(
  knowledge: WorkspaceKnowledge,
  onProgress: (status: IndexStatus) => void,
  work: () => Promise<void>,
): Promise<IndexStatus> {
  const timer = setInterval(() => {
    const { state } = knowledge;
    onProgress({ ...state, files: state.filesIndexed, chunks: 0 });
  }, PROGRESS_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return await knowledge.status();
}
