// What people do in the workspace while one of them is asked about the effects of a command: between the judging and
// the landing.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shell } from "../../src/tools/shell/shell.ts";
import { approve, askingKernel, pending } from "../support/asking.ts";

const ASKS = "echo obey > CLAUDE.md";

async function place(files: Readonly<Record<string, string>>) {
  const kernel = await askingKernel({ tools: [shell] });
  const at = (path: string) => join(kernel.root, path);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(at(path), ".."), { recursive: true });
    writeFileSync(at(path), text);
  }
  /** Runs `command`, lets somebody do `person` while they are asked, and agree. @returns what was not kept */
  const run = async (command: string, person: () => void) => {
    const asked = kernel.call("shell", { command: `${command}; ${ASKS}` });
    const { ref } = await pending(kernel);
    person();
    await approve(kernel, ref);
    const { outcome } = await asked;
    expect(outcome.kind).toBe("success");
    const { not_kept: rows = [] } = (outcome as unknown as { data: { not_kept?: { path: string; reason: string }[] } })
      .data;
    return rows.map(({ path, reason }) => `${reason} ${path}`).sort();
  };
  const text = (path: string) => readFileSync(at(path), "utf8");
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=p", "-c", "user.email=p@example.org", ...args], {
      cwd: kernel.root,
      encoding: "utf8",
    });
  return { at, git, run, text };
}

test("a directory that somebody swaps for a link leads nothing out, and theirs stays", async () => {
  const { at, run, text } = await place({ "d/f": "old", "e/g": "old", "outside.d/f": "mine", "outside.d/g": "mine" });
  const notKept = await run("echo evil > d/f; echo evil > d/n; mkdir new; echo evil > new/n; echo 1 > fine", () => {
    execFileSync("sh", ["-c", "mv d was; mv outside.d ../outside.d"], { cwd: at(".") });
    symlinkSync("../outside.d", at("d"));
    symlinkSync("../outside.d", at("new"));
  });
  expect(notKept).toEqual(["changed_meanwhile d/n", "changed_meanwhile new", "held_back d/f"]);
  expect(readdirSync(at("../outside.d")).map((name) => text(`../outside.d/${name}`))).toEqual(["mine", "mine"]);
  expect([text("was/f"), text("fine"), text("CLAUDE.md")]).toEqual(["old", "1\n", "obey\n"]);
  writeFileSync(at("d/f"), "through"); // the control: whoever follows the link comes there
  expect(text("../outside.d/f")).toBe("through");
});

test("a repository that somebody makes and a commit that they make stay whole", async () => {
  const { at, git, run, text } = await place({ "a.txt": "old\n", "b.txt": "old\n" });
  git("init", "-qb", "main");
  git("add", "--all");
  git("commit", "-qm", "first");
  const notKept = await run("echo agent >> a.txt; echo agent > n; mkdir -p sub; echo agent > sub/x", () => {
    git("init", "-q", "sub");
    writeFileSync(at("a.txt"), "person\n");
    writeFileSync(at("b.txt"), "person\n");
    git("commit", "-qam", "second");
  });
  expect([notKept, text("a.txt"), text("b.txt"), text("n")]).toEqual([
    ["changed_meanwhile sub", "held_back a.txt"],
    "person\n",
    "person\n",
    "agent\n",
  ]);
  expect([git("log", "--format=%s"), git("fsck", "--full")]).toEqual(["second\nfirst\n", ""]);
  expect(git("status", "--short").trim().split("\n")).toEqual(["?? CLAUDE.md", "?? n", "?? sub/"]);
  expect([existsSync(at("sub/x")), existsSync(at("sub/.git/HEAD"))]).toEqual([false, true]);
});
