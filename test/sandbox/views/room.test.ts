// A workspace keeps room for the looks of later commands, however much one command or several at once make.
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { COPY_FILLED } from "../../../src/sandbox/copies/copy-limits.ts";
import { ownIdentity } from "../../../src/sandbox/identity/identity.ts";
import { ViewDirectories } from "../../../src/sandbox/layers/view-directories.ts";
import { SANDBOX_ENTRIES_MAX } from "../../../src/sandbox/plan/workspace-mounts.ts";
import { ENTRIES_LANDED_MAX, View } from "../../../src/sandbox/views/views.ts";
import { unnotedNames } from "../../support/files-fixture.ts";
import { EVERYTHING } from "../../support/sandbox-place.ts";

/** Views of one workspace; `made` writes into one as its command would. */
function place() {
  const base = mkdtempSync(join(realpathSync(tmpdir()), "handrail-room-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "workspace");
  mkdirSync(root);
  const directories = new ViewDirectories(join(base, "views"));
  const counted = { made: 0, bytes: 0 };
  const identity = { ...ownIdentity(root), views: { path: directories.base(), owner: undefined } };
  return {
    root,
    async begun(entries: number, files: readonly string[]) {
      const view = new View({ directories, identity, root, counted, kind: "overlay" });
      await view.begin(() => undefined, entries);
      const { directory = "" } = view.identity.layers ?? {};
      for (const file of files) writeFileSync(join(directory, "upper", file), "");
      onTestFinished(() => view.dispose());
      return () => view.land({ judge: EVERYTHING, newFiles: unnotedNames }, new AbortController().signal);
    },
    /** A view that is a copy, in which a file has so many bytes, all of them a hole. */
    async copied(name: string, bytes: number) {
      const view = new View({ directories, identity, root, counted, kind: "copy" });
      await view.begin(() => undefined, 0);
      const { path } = await view.copy(new Set(), new AbortController().signal);
      onTestFinished(() => view.dispose());
      writeFileSync(join(path, name), "");
      truncateSync(join(path, name), bytes);
      return () => view.land({ judge: EVERYTHING, newFiles: unnotedNames }, new AbortController().signal);
    },
  };
}

const FULL = { code: "OUTPUT_LIMIT", message: expect.stringContaining("would hold more than") };

test("a command that fills the last of the room lands, and one that needs more does not", async () => {
  const { root, begun } = place();
  const entries = ENTRIES_LANDED_MAX - 2;
  await expect((await begun(entries, ["a", "b", "c"]))()).rejects.toMatchObject(FULL);
  expect(readdirSync(root)).toEqual([]);
  await expect((await begun(entries, ["a", "b"]))()).resolves.toMatchObject({ created: 2 });
});

test("commands that run at the same time share the room", async () => {
  const { root, begun } = place();
  const entries = ENTRIES_LANDED_MAX - 3;
  const [first, second] = [await begun(entries, ["a", "b"]), await begun(entries, ["c", "d"])];
  await expect(first()).resolves.toMatchObject({ created: 2 });
  await expect(second()).rejects.toMatchObject(FULL);
  expect(readdirSync(root).sort()).toEqual(["a", "b"]);
});

test("what makes nothing new lands also where there is no room", async () => {
  const { root, begun } = place();
  writeFileSync(join(root, "a"), "old");
  await expect((await begun(SANDBOX_ENTRIES_MAX, ["a"]))()).resolves.toMatchObject({ changed: 1 });
  await expect((await begun(SANDBOX_ENTRIES_MAX, []))()).resolves.toMatchObject({ created: 0, notKept: [] });
});

test("commands on copies make nothing so large that the next copy could not be made", async () => {
  const { root, begun, copied } = place();
  await expect((await copied("big", COPY_FILLED.bytesMax + 1))()).rejects.toMatchObject(FULL);
  expect(readdirSync(root)).toEqual([]);
  await expect((await copied("big", COPY_FILLED.bytesMax))()).resolves.toMatchObject({ created: 1 });
  // what lets it shrink lands, and so it does where no copies are made
  await expect((await copied("big", 1))()).resolves.toMatchObject({ changed: 1 });
  const ended = await begun(0, ["other"]);
  await expect(ended()).resolves.toMatchObject({ created: 1 });
});

test("commands on copies that run at the same time share the room", async () => {
  const { root, copied } = place();
  const half = COPY_FILLED.bytesMax / 2 + 1;
  const [first, second] = [await copied("a", half), await copied("b", half)];
  await expect(first()).resolves.toMatchObject({ created: 1 });
  await expect(second()).rejects.toMatchObject(FULL);
  expect(readdirSync(root)).toEqual(["a"]);
});
