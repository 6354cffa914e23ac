/** An undo without a kernel: a workspace that a call has changed, and what stood there before. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { blake3Hex } from "../../src/base/hash.ts";
import { systemRandom } from "../../src/base/ids.ts";
import { UNKNOWN_NAMES } from "../../src/sandbox/layers/view-directories.ts";
import { type Undone, type UndoParts, undoChanges } from "../../src/sandbox/undo/undo.ts";
import type { WholeChange } from "../../src/sandbox/undo/undo-plan.ts";
import { openLockStore } from "../../src/stores/embedded/lock-store.ts";
import { unnotedNames } from "./files-fixture.ts";
import { makeFiles } from "./landing-fixture.ts";

/** Files that were changed, by what stood there before and after; nothing where they are absent. */
export type Changed = Readonly<Record<string, { readonly before?: string; readonly after?: string }>>;

/** The workspace, as the call left it. */
export interface UndoFixture {
  readonly root: string;
  /** Beside the workspace. */
  readonly outside: string;
  readonly undo: (more?: Partial<UndoParts>) => Promise<Undone>;
}

/** Makes it. @param views where views lie; beside the workspace when absent */
export async function undoFixture(changed: Changed, views?: string): Promise<UndoFixture> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "handrail-undo-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [root, outside] = [join(base, "workspace"), join(base, "outside")];
  for (const directory of [root, outside]) mkdirSync(directory);
  const contents = new Map<string, Buffer>();
  const stateOf = (text: string) => {
    const content = blake3Hex(text);
    contents.set(content, Buffer.from(text));
    return { kind: "file", mode: 0o644, content, bytes: text.length } as const;
  };
  const changes = Object.entries(changed).map(([path, { before, after }]): WholeChange => {
    if (after !== undefined) makeFiles(root, { [path]: after });
    return {
      path,
      ...(before !== undefined && { before: stateOf(before) }),
      ...(after !== undefined && { after: stateOf(after) }),
    };
  });
  const locks = await openLockStore(join(base, "state"));
  onTestFinished(() => locks.close());
  const parts: UndoParts = {
    rootPath: root,
    viewsDirectory: views ?? join(base, "views"),
    viewNames: UNKNOWN_NAMES,
    newFiles: unnotedNames,
    read: (content) => [contents.get(content) ?? Buffer.from("not kept")],
    before: async () => undefined,
    locks,
    lockOwner: "test",
    clock: systemClock,
    random: systemRandom,
    signal: new AbortController().signal,
    onLockBroken: () => undefined,
    recheck: async () => undefined,
  };
  return { root, outside, undo: (more = {}) => undoChanges({ ...parts, ...more }, changes) };
}
