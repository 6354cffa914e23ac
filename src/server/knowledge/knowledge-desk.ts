/** The operator's side of indexes: how far they are, making them anew, taking them out and in. */
import { realpathSync, statSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import type { WorkspaceCatalog } from "../../kernel/index.ts";
import { BY_OPERATOR } from "../../ledger/actors.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { Redactor } from "../../redact/redact.ts";
import { workspaceDirectory } from "../workspace/workspace-catalog.ts";
import type { OpenKnowledge } from "./open-knowledge.ts";
import type { IndexStatus, WorkspaceKnowledge } from "./workspace-knowledge.ts";

/** What the desk works with. */
export interface KnowledgeDeskParts {
  readonly workspaces: WorkspaceCatalog;
  readonly knowledge: Pick<OpenKnowledge, "of">;
  readonly redactor: () => Redactor | Promise<Redactor>;
  readonly ledger: EventSink;
  readonly clock: Clock;
}

/** What the operator does with an index; each is recorded before and after. */
type Act = "index" | "rebuild" | "export" | "import";

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

  /** Brings the index up to date. @param onProgress told now and then how far it is */
  async index(directory: string, onProgress: OnProgress): Promise<IndexStatus> {
    const knowledge = await this.#of(directory);
    return await this.#recorded({ act: "index", directory }, () =>
      watched(knowledge, onProgress, () => knowledge.update()),
    );
  }

  /** Indexes every file again. @param onProgress told now and then how far it is */
  async rebuild(directory: string, onProgress: OnProgress): Promise<IndexStatus> {
    const knowledge = await this.#of(directory);
    return await this.#recorded({ act: "rebuild", directory }, () =>
      watched(knowledge, onProgress, () => knowledge.rebuild()),
    );
  }

  /** Brings the index up to date and writes it into a new file. */
  async exportTo(directory: string, file: string): Promise<ExportedIndex> {
    const knowledge = await this.#of(directory);
    return await this.#recorded({ act: "export", directory, file }, async () => {
      await knowledge.exportTo(file);
      return { ...(await knowledge.status()), file: realpathSync(file), sizeBytes: statSync(file).size };
    });
  }

  /** Puts an exported index in place, then indexes the files that differ from it. */
  async importFrom(directory: string, file: string, onProgress: OnProgress): Promise<IndexStatus> {
    const knowledge = await this.#of(directory);
    return await this.#recorded({ act: "import", directory, file }, () =>
      watched(knowledge, onProgress, () => knowledge.importFrom(file)),
    );
  }

  /** Records that the operator is about to do something, then what came of it. */
  async #recorded<Status extends IndexStatus>(
    { act, directory, file }: { readonly act: Act; readonly directory: string; readonly file?: string },
    work: () => Promise<Status>,
  ): Promise<Status> {
    const { shownPath } = await this.#parts.redactor();
    const workspace = shownPath(workspaceDirectory(directory));
    const facts = { act, workspace, ...(file !== undefined && { file: shownPath(file) }) };
    await this.#record("knowledge_begun", facts);
    try {
      const status = await work();
      await this.#record("knowledge_ended", { ...facts, isDone: true, files: status.files, chunks: status.chunks });
      return status;
    } catch (error) {
      const reason = error instanceof Error ? error.name : "unknown";
      await this.#record("knowledge_ended", { ...facts, isDone: false, reason });
      throw error;
    }
  }

  async #record(type: "knowledge_begun" | "knowledge_ended", payload: JsonObject): Promise<void> {
    const { ledger, clock } = this.#parts;
    await ledger.record({ type, ...BY_OPERATOR, timeMs: clock.nowMs(), payload }, "durable");
  }

  async #of(directory: string): Promise<WorkspaceKnowledge> {
    const serviceRoot = workspaceDirectory(directory);
    const place = await this.#parts.workspaces.open({ serviceRoot, projectRoot: serviceRoot });
    return await this.#parts.knowledge.of(place);
  }
}

type OnProgress = (status: IndexStatus) => void;

/** Milliseconds between two words of progress. */
const PROGRESS_MS = 1000;

async function watched(
  knowledge: WorkspaceKnowledge,
  onProgress: OnProgress,
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
