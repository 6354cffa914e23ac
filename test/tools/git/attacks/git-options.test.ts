// Options and addresses by which git runs a program, writes where nobody looked, or reads what lies elsewhere. Plain
// git does each of them, in a directory that the test made; the kernel refuses each before anything runs.
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { newRepository, plainGit } from "../../../support/git-place.ts";
import { type Place, place, SECRET } from "../../../support/hostile-repository.ts";

let at: Place;
beforeEach(async () => {
  at = await place();
  const remote = newRepository(join(at.root, "remote"));
  remote.commit("theirs", { "r.txt": "r\n" });
  remote.git("checkout", "--quiet", "--detach");
  at.plain.git("remote", "add", "origin", "./remote");
  at.plain.put("a.txt", "changed\n");
});

/**
 * What plain git is told, and the same for the kernel. `PROGRAM` stands for a program that leaves a trace, `HOOKS` for
 * a directory with hooks.
 */
const RUNNING: readonly (readonly [string, readonly string[], readonly [string, ...string[]]])[] = [
  ["-c", ["-c", "core.fsmonitor=PROGRAM", "status"], ["STATUS", "-c", "core.fsmonitor=PROGRAM"]],
  ["--config-env", ["--config-env=core.fsmonitor=EVIL", "status"], ["STATUS", "--config-env=core.fsmonitor=EVIL"]],
  ["--upload-pack", ["fetch", "--upload-pack=PROGRAM", "origin"], ["FETCH", "--upload-pack=PROGRAM", "origin"]],
  [
    "--receive-pack",
    ["push", "--receive-pack=PROGRAM", "origin", "work"],
    ["PUSH", "--receive-pack=PROGRAM", "origin", "work"],
  ],
  ["--exec of a push", ["push", "--exec=PROGRAM", "origin", "work"], ["PUSH", "--exec=PROGRAM", "origin", "work"]],
  [
    "--exec of a rebase",
    ["rebase", "--exec", "PROGRAM", "--root", "--autostash"],
    ["REBASE", "--exec", "PROGRAM", "main"],
  ],
  ["-x", ["rebase", "-x", "PROGRAM", "--root", "--autostash"], ["REBASE", "-x", "PROGRAM", "main"]],
  ["--ext-diff", ["log", "-1", "-p", "--ext-diff"], ["LOG", "-1", "-p", "--ext-diff"]],
  ["--textconv", ["diff-tree", "-p", "--textconv", "HEAD~1", "HEAD"], ["DIFF", "--textconv", "HEAD~1", "HEAD"]],
  [
    "an option where a reference is expected",
    ["fetch", "origin", "--upload-pack=PROGRAM"],
    ["FETCH", "origin", "--upload-pack=PROGRAM"],
  ],
  ["ext::", ["-c", "protocol.ext.allow=always", "ls-remote", "ext::PROGRAM x"], ["CLONE", "ext::PROGRAM x", "new"]],
  [
    "--upload-pack of a clone",
    ["clone", "--upload-pack=PROGRAM", "./remote", "new"],
    ["CLONE", "--upload-pack=PROGRAM", "./remote", "new"],
  ],
  [
    "-u of a clone",
    ["clone", "-uPROGRAM", "./remote", "new"],
    ["CLONE", "-uPROGRAM", "https://example.com/x.git", "new"],
  ],
  [
    "--config of a clone",
    ["clone", "--config", "core.hooksPath=HOOKS", "./remote", "new"],
    ["CLONE", "--config", "core.hooksPath=HOOKS", "https://example.com/x.git"],
  ],
  [
    "--template",
    ["clone", "--template=template", "./remote", "new"],
    ["CLONE", "--template=template", "https://example.com/x.git", "new"],
  ],
  [
    "--edit",
    ["-c", "core.editor=PROGRAM", "commit", "--allow-empty", "--edit", "-m", "x"],
    ["COMMIT", "--allow-empty", "--edit", "-m", "x"],
  ],
  [
    "--interactive",
    ["-c", "sequence.editor=PROGRAM", "rebase", "--interactive", "--root", "--autostash"],
    ["REBASE", "--interactive", "main"],
  ],
  [
    "--gpg-sign",
    ["-c", "gpg.program=PROGRAM", "commit", "--allow-empty", "--gpg-sign", "-m", "x"],
    ["COMMIT", "--allow-empty", "--gpg-sign", "-m", "x"],
  ],
];

describe("what makes git run a program", () => {
  test.each(RUNNING)("%s", async (_, plainly, [operation, ...asked]) => {
    const named = (word: string) =>
      word.replace("PROGRAM", at.program).replace("HOOKS", join(at.root, "template/hooks"));
    at.plain.git("config", "diff.external", at.program);
    at.plain.git("config", "diff.evil.textconv", at.program);
    at.plain.commit("for a textconv", { "a.txt": "more\n", ".gitattributes": "*.txt diff=evil\n" });
    at.plain.put("a.txt", "changed\n");
    at.plain.put("template/hooks/post-checkout", `#!/bin/sh\n${at.program}\n`);
    chmodSync(join(at.root, "template/hooks/post-checkout"), 0o755);
    at.hasRun();
    plainGit(at.root, { EVIL: at.program }).tried(...plainly.map(named));
    expect(at.hasRun()).toBe(true);
    rmSync(join(at.root, "new"), { recursive: true, force: true });
    expect(await at.ask(operation, ...asked.map(named))).toMatch(/^tool_input_invalid/);
    expect([at.hasRun(), existsSync(join(at.root, "new"))]).toEqual([false, false]);
  });
});

describe("what makes git write or read elsewhere", () => {
  test.each([
    ["--output", ["diff", "--output=../written"], ["DIFF", "--output=../written"]],
    ["--output of a log", ["log", "-p", "--output=../written"], ["LOG", "-p", "--output=../written"]],
    ["a directory above", ["clone", "./remote", "../written"], ["CLONE", "https://example.com/x.git", "../written"]],
    [
      "--separate-git-dir",
      ["clone", "--separate-git-dir=../written", "./remote", "new"],
      ["CLONE", "--separate-git-dir=../written", "https://example.com/x.git", "new"],
    ],
    [
      "--work-tree",
      ["--work-tree=..", "checkout", "--force", "HEAD", "--", ":/b.txt"],
      ["CHECKOUT", "--work-tree=..", "HEAD", "--", "b.txt"],
    ],
  ] as const)("%s", async (_, plainly, [operation, ...asked]) => {
    const written = [join(at.root, "../written"), join(at.root, "../b.txt")];
    const gone = () => {
      const were = written.some((path) => existsSync(path));
      for (const path of written) rmSync(path, { recursive: true, force: true });
      return were;
    };
    at.plain.git(...plainly);
    expect(gone()).toBe(true);
    expect(await at.ask(operation, ...asked)).toMatch(/^tool_input_invalid/);
    expect(gone()).toBe(false);
  });

  test.each([
    ["--no-index", ["diff", "--no-index", "--", "a.txt", "../outside"], ["DIFF", "--no-index", "a.txt", "../outside"]],
    ["-F", ["commit", "--allow-empty", "-F", "../outside"], ["COMMIT", "--allow-empty", "-F", "../outside"]],
    ["--pathspec-from-file", ["add", "--pathspec-from-file=../outside"], ["ADD", "--pathspec-from-file=../outside"]],
    ["-O", ["diff", "-O../outside/none"], ["DIFF", "-O../outside/none"]],
    ["-C", ["-C", "..", "diff", "--no-index", "--", "workspace/a.txt", "outside"], ["DIFF", "-C", "..", "HEAD"]],
    ["file::", ["ls-remote", "file://REMOTE"], ["CLONE", "file://REMOTE", "new"]],
    ["a directory as a remote", ["clone", "REMOTE", "new"], ["CLONE", "REMOTE", "new"]],
    [
      "--reference",
      ["clone", "--reference=REMOTE", "./remote", "new"],
      ["CLONE", "--reference=REMOTE", "https://example.com/x.git", "new"],
    ],
  ] as const)("%s", async (_, plainly, [operation, ...asked]) => {
    const elsewhere = newRepository(join(at.root, "../elsewhere"));
    elsewhere.commit(SECRET, { "x.txt": SECRET });
    elsewhere.git("branch", SECRET);
    writeFileSync(join(at.root, "../outside"), `${SECRET}\n`);
    mkdirSync(join(at.root, "../workspace"), { recursive: true });
    const named = (word: string) => word.replace("REMOTE", elsewhere.directory);
    const { stdout, stderr } = at.plain.tried(...plainly.map(named));
    const brought = existsSync(join(at.root, "new")) ? "cloned" : "";
    expect(`${stdout}${stderr}${brought}${at.plain.git("log", "-1", "--format=%B")}`).toMatch(
      new RegExp(`${SECRET}|outside|cloned`),
    );
    rmSync(join(at.root, "new"), { recursive: true, force: true });
    const said = await at.ask(operation, ...asked.map(named));
    expect(said).toMatch(/^tool_input_invalid/);
    expect([said.includes(SECRET), existsSync(join(at.root, "new"))]).toEqual([false, false]);
  });
});
