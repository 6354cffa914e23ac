/**
 * Scratch directories: one for each session, for an agent's own plans and temporary files, outside of the workspace.
 *
 * They lie where views lie, which nobody but the kernel's own user comes to, and the user of commands. Commands see
 * theirs at `/scratch`; what they do there lands nowhere and is asked about by nobody. One is made when it is first
 * used, and removed once its session is over. INVARIANT: a session sees no other session's.
 */
import { chownSync, closeSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { assert } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { openRoot, type RootHandle, type ScratchRoot } from "../files/places/roots.ts";
import { removeTree } from "../files/remove-tree.ts";

const SESSION_ID = /^[\w-]{1,64}$/;
/** Directories that are made between two looks for those of sessions that are over. */
const SWEEP_EVERY = 64;

const unused = new FinalizationRegistry<{ readonly handle?: RootHandle }>(({ handle }) => {
  if (handle !== undefined) closeSync(handle.descriptor);
});

/** What scratch directories rest on. */
export interface ScratchParts {
  /** Where all of them lie. @throws ToolFailure SANDBOX_UNAVAILABLE when there is no place */
  readonly base: () => string;
  /** Tells the directories of this kernel's state from those of others that lie there. */
  readonly owner: string;
  readonly isOver: (sessionId: string) => Promise<boolean>;
  readonly onInternalError: (error: unknown) => void;
}

/** The scratch directories of one kernel. */
export class ScratchDirectories {
  readonly #parts: ScratchParts;
  /** What names begin with, before the id of the session. */
  readonly #prefix: string;
  #made = 0;
  #sweeping: Promise<void> | undefined;

  constructor(parts: ScratchParts) {
    this.#parts = parts;
    this.#prefix = `scratch-${blake3Hex(parts.owner).slice(0, 12)}-`;
  }

  /**
   * The directory of a session. It stays open as long as what is returned is referred to, as every call refers to its
   * roots: a number that is closed too early would name another directory.
   * @param workspace whose owner its commands act as, where the kernel is root
   */
  rootOf(sessionId: string, workspace: string): ScratchRoot {
    const held: { handle?: RootHandle } = {};
    const root: ScratchRoot = {
      opened: () => held.handle,
      open: () => {
        held.handle ??= this.#open(sessionId, workspace);
        return held.handle;
      },
    };
    unused.register(root, held);
    return root;
  }

  /** Removes the directories of sessions that are over. Never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch(this.#parts.onInternalError)
      .finally(() => {
        this.#sweeping = undefined;
      });
    return this.#sweeping;
  }

  #open(sessionId: string, workspace: string): RootHandle {
    assert(SESSION_ID.test(sessionId), "a session's id is a name");
    const path = join(this.#parts.base(), `${this.#prefix}${sessionId}`);
    if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) {
      giveTo(path, workspace);
      this.#made += 1;
      if (this.#made % SWEEP_EVERY === 1) void this.sweep();
    }
    return openRoot(path);
  }

  async #sweep(): Promise<void> {
    const base = this.#parts.base();
    for (const name of readdirSync(base)) {
      const sessionId = name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : "";
      if (!SESSION_ID.test(sessionId) || !(await this.#parts.isOver(sessionId))) continue;
      await removeTree(join(base, name)).catch(this.#parts.onInternalError); // the next look tries again
    }
  }
}

/** Where the kernel is root, commands act as the owner of the workspace. */
function giveTo(path: string, workspace: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(workspace);
  chownSync(path, uid, gid);
}
