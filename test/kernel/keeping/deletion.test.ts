/** What `delete_file` removes without asking: what can be brought back, and what the operator's list names. */
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createKernel } from "../../../src/server/doors/library.ts";
import { plainGit } from "../../support/git-place.ts";
import { freshPlace } from "../../support/place.ts";

const RULE = "CAPABILITY:delete_file:unrecoverable";

/** A kernel with a workspace, and its session. */
async function opened({ policy = "", settings = "" } = {}) {
  const place = freshPlace();
  if (policy !== "") place.put("config/policy/own.cedar", policy);
  if (settings !== "") place.put("config/handrail.yaml", settings);
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
    onWarning: () => undefined,
  });
  onTestFinished(() => kernel[Symbol.asyncDispose]());
  const session = () => kernel.openSession({ workspace: place.workspace });
  const own = await session();
  const at = (path: string) => join(place.workspace, path);
  /** `success`, the rule that asked, or the code of the failure. */
  const deleting = async (path: string, who = own) => {
    const { outcome } = (await who.call("delete_file", { path })).response;
    if (outcome.kind === "denied") return outcome.denial.ruleId;
    return outcome.kind === "error" ? outcome.code : outcome.kind;
  };
  return {
    place,
    own,
    session,
    deleting,
    put: (path: string, text: string) => place.put(`workspace/${path}`, text),
    at,
  };
}

test("tracked and unchanged in git goes, changed and untracked asks", async () => {
  const { place, deleting, put, at } = await opened();
  const { git, commit } = plainGit(place.workspace);
  git("init", "-q");
  commit("first", { "kept.txt": "kept\n", "src/changed.txt": "old\n", "src/staged.txt": "old\n" });
  put("src/changed.txt", "work of a person\n");
  put("untracked.txt", "work of a person\n");
  put(".gitignore", "ignored.txt\n");
  put("ignored.txt", "work of a person\n");
  expect(await deleting("kept.txt")).toBe("success");
  expect(git("status", "--porcelain", "kept.txt")).toBe(" D kept.txt\n"); // and git brings it back
  for (const path of ["src/changed.txt", "untracked.txt", "ignored.txt"]) {
    expect([path, await deleting(path)]).toEqual([path, RULE]);
    expect(existsSync(at(path))).toBe(true);
  }
  put("src/staged.txt", "new\n");
  git("add", "src/staged.txt");
  expect(await deleting("src/staged.txt")).toBe("success");
});

test("made in this session goes, by a tool or by a command; changed by others since, or made in another session, asks", async () => {
  const { own, session, deleting, put } = await opened();
  const made = async (path: string, who = own) => {
    const { outcome } = (await who.call("write_file", { path, content: "made\n" })).response;
    expect(outcome.kind).toBe("success");
  };
  await made("own.txt");
  expect(await deleting("own.txt")).toBe("success");
  await made("touched.txt");
  put("touched.txt", "work of a person\n");
  expect(await deleting("touched.txt")).toBe(RULE);
  put("before.txt", "work of a person\n");
  await own.call("write_file", { path: "before.txt", content: "rewritten\n" });
  expect(await deleting("before.txt")).toBe(RULE);
  const other = await session();
  await made("theirs.txt", other);
  expect([await deleting("theirs.txt"), await deleting("theirs.txt", other)]).toEqual([RULE, "success"]);
});

test("what is not there, a directory and a link are refused as before, and nobody is asked", async () => {
  const { deleting, put, at } = await opened();
  put("directory/a.txt", "");
  expect([await deleting("none.txt"), await deleting("directory")]).toEqual(["FILE_NOT_FOUND", "NOT_A_FILE"]);
  symlinkSync("directory/a.txt", at("link"));
  expect(await deleting("link")).toBe(RULE); // where it leads cannot be told before
  expect(existsSync(at("directory/a.txt"))).toBe(true);
});

test("what the operator's list names goes, and nothing beside it; `open` asks nothing", async () => {
  const policy = `@id("own.deletes")
@message("logs may be deleted")
@waives("${RULE}")
permit (principal, action == Handrail::Action::"delete_file", resource is Handrail::File)
when { resource.path like "logs/*" };
`;
  const { deleting, put } = await opened({ policy });
  put("logs/a.log", "x\n");
  put("notes.txt", "x\n");
  expect([await deleting("logs/a.log"), await deleting("notes.txt")]).toEqual(["success", RULE]);
  const open = await opened({ settings: "preset: open\n" });
  open.put("notes.txt", "x\n");
  expect(await open.deleting("notes.txt")).toBe("success");
});

test("without a history what a session made is asked about, and the answer names what to do", async () => {
  const { own, deleting, at } = await opened({ settings: "undo: { keep_days: 0 }\n" });
  await own.call("write_file", { path: "own.txt", content: "made\n" });
  expect(await deleting("own.txt")).toBe(RULE);
  expect(existsSync(at("own.txt"))).toBe(true);
  const { outcome } = (await own.call("delete_file", { path: "own.txt" })).response;
  expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "tool_approval_required", layer: "approval" } });
});

test("a file that is too large to be compared is asked about", async () => {
  const { place, deleting, at } = await opened();
  const { git } = plainGit(place.workspace);
  git("init", "-q");
  for (const [name, bytes] of [
    ["fits.bin", 16 * 2 ** 20],
    ["large.bin", 16 * 2 ** 20 + 1],
  ] as const)
    writeFileSync(at(name), Buffer.alloc(bytes));
  git("add", ".");
  expect([await deleting("fits.bin"), await deleting("large.bin")]).toEqual(["success", RULE]);
});
