/** A workspace that cannot be opened is no empty one: an index of it would lose every file. */
import { constants, openSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defaultSettings } from "../../../../src/config/config.ts";
import { O_PATH } from "../../../../src/sandbox/native/syscalls.ts";
import { visitFiles } from "../../../../src/sandbox/search/indexed-files.ts";
import { createWorkspaceCatalog } from "../../../../src/server/workspace/workspace-catalog.ts";
import { freshPlace } from "../../../support/place.ts";

test("a root that cannot be opened is said, and not taken for one without files", async () => {
  const place = freshPlace();
  place.put("workspace/one.txt", "one\n");
  const catalog = createWorkspaceCatalog(() => ({ settings: defaultSettings(), trusted: [] }), []);
  onTestFinished(() => catalog.close());
  const opened = await catalog.open({ serviceRoot: place.workspace, projectRoot: place.workspace });
  const { signal } = new AbortController();
  expect(await visitFiles({ ...opened, signal })).toMatchObject([{ place: { path: "one.txt" } }]);
  const path = join(place.workspace, "one.txt");
  const service = { descriptor: openSync(path, O_PATH | constants.O_NOFOLLOW), path, seenInTurn: -1 };
  const roots = { ...opened.roots, service };
  await expect(visitFiles({ ...opened, roots, signal })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});
