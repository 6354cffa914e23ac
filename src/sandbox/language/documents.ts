/**
 * Keeps the files that a language server has open equal to what the workspace holds.
 *
 * An open file is what the client says it is, whatever the server read before, so that no answer is about a version
 * that has gone.
 */
import { INSIDE_WORKSPACE } from "../plan/plan.ts";
import { readPublished, type ServerDiagnostic } from "./answers.ts";
import { languageIdOf, type ServerKind } from "./server-kinds.ts";
import type { RequestBounds, ServerProcess } from "./server-process.ts";

/** Files that stay open between questions. */
const OPEN_MAX = 64;

/** Milliseconds without a word, after which a server that speaks unasked has said all; Go's waits for one itself. */
const QUIET_MS = 2000;

interface OpenDocument {
  readonly text: string;
  readonly version: number;
  /** What the server said last of this version, unasked. */
  published?: readonly ServerDiagnostic[];
}

/** What is told to a server, and what it says unasked. */
type SpokenWith = Pick<ServerProcess, "notify" | "until" | "onPublished">;

/** The open files of one server. */
export class Documents {
  readonly #process: SpokenWith;
  readonly #kind: ServerKind;
  readonly #open = new Map<string, OpenDocument>();
  /** When one of them changed, or something was said of one. */
  #stirredAtMs = 0;

  constructor(process: SpokenWith, kind: ServerKind) {
    this.#process = process;
    this.#kind = kind;
    process.onPublished = (params) => this.#publish(params);
  }

  /** Those that are open, oldest first. */
  get paths(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** Opens or changes a file. */
  async show(path: string, text: string): Promise<void> {
    const open = this.#open.get(path);
    if (open?.text === text) return;
    const version = (open?.version ?? 0) + 1;
    this.#open.delete(path);
    this.#open.set(path, { text, version });
    this.#stirredAtMs = performance.now();
    const uri = uriOf(path);
    if (open !== undefined) {
      await this.#process.notify("textDocument/didChange", {
        textDocument: { uri, version },
        contentChanges: [{ text }],
      });
      return;
    }
    const languageId = languageIdOf(this.#kind, path);
    await this.#process.notify("textDocument/didOpen", { textDocument: { uri, languageId, version, text } });
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_MAX && oldest !== undefined) await this.hide(oldest);
  }

  /**
   * What the server says unasked of a file as it is open, once it has been quiet for a while.
   * @throws ServerFailure `timed_out` where it says nothing of it, or never rests
   */
  async published(path: string, bounds: RequestBounds): Promise<readonly ServerDiagnostic[]> {
    const said = () =>
      performance.now() - this.#stirredAtMs >= QUIET_MS ? this.#open.get(path)?.published : undefined;
    await this.#process.until(() => said() !== undefined, "it has not said what is wrong in time", bounds);
    return said() ?? [];
  }

  /** Keeps what is said of the version that is open; what is said of another has gone. */
  #publish(params: unknown): void {
    const said = readPublished(params);
    const path = said && pathOfUri(said.uri);
    const open = path === undefined ? undefined : this.#open.get(path);
    if (said === undefined || open === undefined) return;
    if (said.version !== undefined && said.version !== open.version) return;
    open.published = said.items;
    this.#stirredAtMs = performance.now();
  }

  /** Closes a file. */
  async hide(path: string): Promise<void> {
    if (!this.#open.delete(path)) return;
    await this.#process.notify("textDocument/didClose", { textDocument: { uri: uriOf(path) } });
  }
}

/** The address of a file of the workspace, inside. */
export function uriOf(path: string): string {
  const whole = path === "." ? INSIDE_WORKSPACE : `${INSIDE_WORKSPACE}/${path}`;
  return `file://${whole.split("/").map(encodeURIComponent).join("/")}`;
}

/** The path in the workspace that an address names; nothing where it names something else. */
export function pathOfUri(uri: string): string | undefined {
  try {
    const { protocol, host, pathname } = new URL(uri);
    const path = decodeURIComponent(pathname);
    const isInside = protocol === "file:" && host === "" && path.startsWith(`${INSIDE_WORKSPACE}/`);
    return isInside && !path.includes("\0") ? path.slice(INSIDE_WORKSPACE.length + 1) : undefined;
  } catch {
    return undefined; // no address at all
  }
}
