/**
 * Keeps the files that a language server has open equal to what the workspace holds.
 *
 * An open file is what the client says it is, whatever the server read before, so that no answer is about a version
 * that has gone.
 */
import { INSIDE_WORKSPACE } from "../plan/plan.ts";
import { languageIdOf, type ServerKind } from "./server-kinds.ts";
import type { ServerProcess } from "./server-process.ts";

/** Files that stay open between questions. */
const OPEN_MAX = 64;

interface OpenDocument {
  readonly text: string;
  readonly version: number;
}

/** The open files of one server. */
export class Documents {
  readonly #process: ServerProcess;
  readonly #kind: ServerKind;
  readonly #open = new Map<string, OpenDocument>();

  constructor(process: ServerProcess, kind: ServerKind) {
    this.#process = process;
    this.#kind = kind;
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
