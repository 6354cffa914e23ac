// Repositories and arguments that are out to make git run programs, write elsewhere, or show what is hidden. Each
// attack works with plain git, in a directory that the test made; through the kernel it does nothing.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { git } from "../../../../src/tools/git/git.ts";
import { newRepository, plainGit } from "../../../support/git-place.ts";
import { type Place, place, SECRET } from "../../../support/hostile-repository.ts";

describe("settings of a repository that name a program have no effect", () => {
  /** By setting: how it is set up besides, what plain git does to run it, and the same through the kernel. */
  const CASES: Readonly<
    Record<
      string,
      { set?: (at: Place) => void; plainly: readonly string[]; asked: readonly (readonly [string, ...string[]])[] }
    >
  > = {
    "core.fsmonitor": { plainly: ["status"], asked: [["STATUS"], ["DIFF"], ["ADD", "--all"]] },
    "diff.external": { set: change, plainly: ["diff"], asked: [["DIFF"], ["LOG", "-p"], ["SHOW"]] },
    "diff.evil.command": { set: attributed("diff=evil", change), plainly: ["diff"], asked: [["DIFF"], ["SHOW"]] },
    "diff.evil.textconv": { set: attributed("diff=evil", change), plainly: ["diff"], asked: [["DIFF"], ["LOG", "-p"]] },
    "filter.evil.clean": {
      set: attributed("filter=evil", change),
      plainly: ["add", "a.txt"],
      asked: [["STATUS"], ["DIFF"], ["ADD", "a.txt"]],
    },
    "filter.evil.smudge": {
      set: attributed("filter=evil", (at) => rmSync(join(at.root, "a.txt"), { force: true })),
      plainly: ["checkout", "--", "a.txt"],
      asked: [["CHECKOUT", "--", "a.txt"]],
    },
    "core.sshCommand": {
      set: (at) => at.plain.git("config", "remote.origin.url", "ssh://host.invalid/x"),
      plainly: ["ls-remote", "origin"],
      asked: [
        ["FETCH", "origin"],
        ["PUSH", "origin", "work"],
      ],
    },
    "merge.evil.driver": { set: divided, plainly: ["merge", "--no-edit", "other"], asked: [["MERGE", "other"]] },
    "gpg.program": {
      set: (at) => at.plain.git("config", "commit.gpgSign", "true"),
      plainly: ["commit", "--allow-empty", "-m", "signed"],
      asked: [
        ["COMMIT", "--allow-empty", "-m", "signed"],
        ["TAG", "-m", "signed", "v1"],
      ],
    },
    "core.editor": { plainly: ["commit", "--allow-empty"], asked: [["COMMIT", "--amend", "--no-edit"]] },
  };

  test.each(Object.entries(CASES))("%s", async (name, { set, plainly, asked }) => {
    const at = await place();
    at.plain.git("config", name, `${at.program} %A`.replace(name === "merge.evil.driver" ? "" : " %A", ""));
    set?.(at);
    at.plain.tried(...plainly);
    expect(at.hasRun()).toBe(true);
    at.plain.tried("merge", "--abort");
    set?.(at);
    for (const [operation, ...args] of asked) {
      await at.ask(operation, ...args);
      expect([operation, at.hasRun()]).toEqual([operation, false]);
    }
  });

  test("an alias is not an operation, and settings from another file are not read", async () => {
    const at = await place();
    writeFileSync(join(at.root, "more"), `[core]\n\tfsmonitor = ${at.program}\n`);
    at.plain.git("config", "include.path", "../more");
    at.plain.git("status");
    expect(at.hasRun()).toBe(true);
    expect(await at.ask("STATUS")).toContain('"settings_ignored":["include.path"]');
    expect(at.hasRun()).toBe(false);
  });

  test("settings of a working tree, and of a directory that is said to be shared, are not read", async () => {
    const at = await place();
    at.plain.git("config", "extensions.worktreeConfig", "true");
    writeFileSync(join(at.root, ".git/config.worktree"), `[core]\n\tfsmonitor = ${at.program}\n`);
    at.plain.git("status");
    expect(at.hasRun()).toBe(true);
    await at.ask("STATUS");
    expect(at.hasRun()).toBe(false);

    writeFileSync(join(at.root, ".git/commondir"), "../elsewhere\n");
    expect(await at.ask("STATUS")).toContain("parts of the repository lie elsewhere");
  });

  test("an address that is put in place of another is not followed, and one that runs a program is none", async () => {
    const at = await place();
    at.plain.git("config", "protocol.ext.allow", "always");
    at.plain.git("config", "remote.origin.url", "https://host.invalid/x");
    at.plain.git("config", `url.ext::${at.program} .insteadOf`, "https://host.invalid/");
    at.plain.tried("fetch", "origin");
    expect(at.hasRun()).toBe(true);
    await at.ask("FETCH", "origin");
    expect(at.hasRun()).toBe(false);
    at.plain.git("config", "remote.origin.url", `ext::${at.program} x`);
    at.plain.tried("fetch", "origin");
    expect(at.hasRun()).toBe(true);
    expect(await at.ask("FETCH", "origin")).toMatch(/^(?:FILE_NOT_FOUND|NOT_SUPPORTED)/);
    expect(at.hasRun()).toBe(false);
  });

  test("a change of settings is not made by way of them", async () => {
    const at = await place();
    at.plain.git("config", "core.fsmonitor", at.program);
    expect(await at.ask("REMOTE", "add", "origin", "https://example.com/x.git")).toMatch(
      /^NOT_SUPPORTED: the repository has settings/,
    );
    expect([at.hasRun(), at.plain.git("remote")]).toEqual([false, ""]);
  });

  let changes = 0;
  function change({ root }: Place): void {
    changes += 1;
    writeFileSync(join(root, "a.txt"), `changed ${changes}\n`);
  }

  /** Says of all texts that they are `text`, then does what is next. */
  function attributed(text: string, next: (at: Place) => void): (at: Place) => void {
    return (at) => {
      writeFileSync(join(at.root, ".gitattributes"), `*.txt ${text}\n`);
      next(at);
    };
  }

  function divided(at: Place): void {
    if (at.plain.tried("rev-parse", "--verify", "other").code === 0) return;
    at.plain.git("checkout", "--quiet", "-b", "other");
    at.plain.commit("theirs", { "a.txt": "theirs\n", ".gitattributes": "*.txt merge=evil\n" });
    at.plain.git("checkout", "--quiet", "work");
    at.plain.commit("ours", { "a.txt": "ours\n", ".gitattributes": "*.txt merge=evil\n" });
  }
});

describe("what else a repository may hold", () => {
  test.each(["pre-commit", "commit-msg", "post-commit", "prepare-commit-msg"])(
    "the hook %s does not run",
    async (hook) => {
      const at = await place();
      mkdirSync(join(at.root, ".git/hooks"), { recursive: true });
      writeFileSync(join(at.root, `.git/hooks/${hook}`), `#!/bin/sh\ntouch TRACE\n`);
      chmodSync(join(at.root, `.git/hooks/${hook}`), 0o755);
      at.plain.git("commit", "--quiet", "--allow-empty", "-m", "plainly");
      expect(at.hasRun()).toBe(true);
      expect(await at.ask("COMMIT", "--allow-empty", "-m", "asked")).toContain('"subject":"asked"');
      expect(at.hasRun()).toBe(false);
    },
  );

  test("hooks of a checkout, a merge and a rebase do not run either", async () => {
    const at = await place();
    mkdirSync(join(at.root, ".git/hooks"), { recursive: true });
    for (const hook of ["post-checkout", "post-merge", "pre-rebase", "post-rewrite", "reference-transaction"]) {
      writeFileSync(join(at.root, `.git/hooks/${hook}`), `#!/bin/sh\ntouch TRACE\n`);
      chmodSync(join(at.root, `.git/hooks/${hook}`), 0o755);
    }
    at.plain.git("checkout", "--quiet", "main");
    expect(at.hasRun()).toBe(true);
    expect(await at.ask("CHECKOUT", "work")).toContain('"branch":"work"');
    await at.ask("REBASE", "main");
    expect(at.hasRun()).toBe(false);
  });

  test("a rebase that is left with commands to run does not go on", async () => {
    const at = await place();
    at.plain.commit("mine", { "mine.txt": "mine\n" });
    at.plain.tried("-c", "sequence.editor=sed -i '1i break'", "rebase", "-i", "HEAD~1");
    writeFileSync(join(at.root, ".git/rebase-merge/git-rebase-todo"), `exec ${at.program}\n`);
    expect(await at.ask("REBASE", "--continue")).toMatch(
      /^PERMISSION_DENIED: what is left of this rebase would run commands/,
    );
    expect(at.hasRun()).toBe(false);
    at.plain.tried("rebase", "--continue");
    expect(at.hasRun()).toBe(true);
  });

  test("a bare repository within the tree is not taken for one", async () => {
    const at = await place();
    const bare = join(at.root, "vendor");
    mkdirSync(bare);
    plainGit(bare).git("init", "--quiet", "--bare", "--template=", ".");
    plainGit(bare).git("config", "core.fsmonitor", at.program);
    plainGit(bare).git("config", "core.bare", "false");
    plainGit(bare).git("config", "core.worktree", "..");
    plainGit(bare).tried("status");
    expect(at.hasRun()).toBe(true);
    const kernelSays = await at.ask("STATUS", "--", "vendor");
    expect(kernelSays).toContain('"branch":"work"');
    expect(at.hasRun()).toBe(false);
  });

  test("git does not run in a repository within the tree, a submodule or not", async () => {
    const at = await place();
    const inner = newRepository(join(at.root, "inner"));
    inner.commit("inner", { "x.txt": "x\n" });
    at.plain.git("add", "inner");
    at.plain.git("commit", "--quiet", "-m", "with an inner one");
    writeFileSync(
      join(at.root, ".gitmodules"),
      '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n',
    );
    inner.git("config", "core.fsmonitor", at.program);
    inner.put("x.txt", "changed\n");
    at.plain.git("status");
    expect(at.hasRun()).toBe(true);
    expect(await at.ask("STATUS")).toContain('"submodules":["inner"],"nested_repositories":["inner"]');
    for (const [operation, ...args] of [
      ["DIFF"],
      ["ADD", "--all"],
      ["COMMIT", "-a", "-m", "all"],
      ["CHECKOUT", "main"],
    ] as const)
      await at.ask(operation, ...args);
    expect(at.hasRun()).toBe(false);
    expect(at.plain.git("ls-tree", "-r", "--name-only", "work")).not.toContain("inner/x.txt");
  });

  test("a `.git` that is a link or a file is no repository", async () => {
    const at = await place();
    renameSync(join(at.root, ".git"), join(at.root, "moved"));
    symlinkSync("moved", join(at.root, ".git"));
    expect(at.plain.tried("status").code).toBe(0);
    expect(await at.ask("STATUS")).toMatch(/^NOT_SUPPORTED: the repository cannot be used: `.git` is a link/);
    rmSync(join(at.root, ".git"));
    writeFileSync(join(at.root, ".git"), "gitdir: moved\n");
    expect(at.plain.tried("status").code).toBe(0);
    expect(await at.ask("STATUS")).toMatch(/^NOT_SUPPORTED: the repository cannot be used: `.git` is a file/);
  });

  test("parts of a repository that are links are not followed", async () => {
    const at = await place();
    renameSync(join(at.root, ".git/config"), join(at.root, "config"));
    symlinkSync("../config", join(at.root, ".git/config"));
    expect(await at.ask("STATUS")).toMatch(/^NOT_SUPPORTED: the repository cannot be used: `.git\/config`/);
  });

  test("paths with line breaks and control characters are shown so that nothing can be mistaken for another line", async () => {
    const at = await place();
    const name = "a\n?? other.txt\u001b[31m";
    at.plain.put(name, "odd\n");
    const data = JSON.parse(await at.ask("STATUS")) as { text: string; untracked: readonly string[] };
    expect(data.untracked).toContain(name);
    expect(data.text.split("\n").filter((line) => line.startsWith("?? other"))).toEqual([]);
    expect(await at.ask("ADD", "--", name)).toContain("tool_input_invalid");
  });
});

describe("arguments", () => {
  const REFUSED: readonly (readonly [string, ...string[]])[] = [
    ["DIFF", "--output=out.txt"],
    ["DIFF", "--ext-diff"],
    ["DIFF", "--textconv"],
    ["DIFF", "--no-index", "a.txt", "/etc/passwd"],
    ["DIFF", "-O", "a.txt"],
    ["LOG", "--output=out.txt"],
    ["LOG", "--format=%x00%G?"],
    ["LOG", "--show-signature"],
    ["LOG", "-Galpha"],
    ["STATUS", "-c", "core.fsmonitor=x"],
    ["FETCH", "--upload-pack=touch x", "origin"],
    ["FETCH", "ext::sh -c touch% x"],
    ["FETCH", "https://example.com/x.git"],
    ["FETCH", "origin", "+refs/heads/*:refs/heads/*"],
    ["PUSH", "--receive-pack=touch x", "origin"],
    ["PUSH", "--exec=touch x", "origin"],
    ["PUSH", "--mirror", "origin"],
    ["CLONE", "file:///etc", "x"],
    ["CLONE", "/etc", "x"],
    ["CLONE", "ext::sh -c x", "x"],
    ["CLONE", "git@github.com:a/b.git", "x"],
    ["CLONE", "https://user:pass@example.com/a.git", "x"],
    ["CLONE", "--template=evil", "https://example.com/a.git"],
    ["CLONE", "-c", "core.fsmonitor=x", "https://example.com/a.git"],
    ["CLONE", "--config", "core.fsmonitor=x", "https://example.com/a.git"],
    ["CLONE", "https://example.com/a.git", "../out"],
    ["CLONE", "--recurse-submodules", "https://example.com/a.git"],
    ["REBASE", "--exec", "touch x", "main"],
    ["REBASE", "-i", "main"],
    ["MERGE", "-s", "evil", "main"],
    ["COMMIT", "-F", "/etc/passwd"],
    ["COMMIT", "-m", "x", "--author=Ada <ada@example.com>"],
    ["COMMIT", "-m", "x", "-S"],
    ["CHECKOUT", "--upload-pack=x"],
    ["CHECKOUT", "-"],
    ["CHECKOUT", "-b", "--force"],
    ["CHECKOUT", "-b", "a..b"],
    ["CHECKOUT", "-b", "a\u001bb"],
    ["CHECKOUT", "-b", "refs/heads/x"],
    ["BRANCH", "a\nb"],
    ["BRANCH", "x.lock"],
    ["TAG", "-s", "v1"],
    ["TAG", "-m", "x", "HEAD"],
    ["SHOW", "HEAD:a.txt"],
    ["SHOW", ":/begin"],
    ["SHOW", "HEAD^{/begin}"],
    ["SHOW", "HEAD^{tree}"],
    ["LOG", "--", ":(attr:x)a.txt"],
    ["ADD", ":!a.txt"],
    ["ADD", "../x"],
    ["ADD", "-f", "a.txt"],
    ["ADD", "--pathspec-from-file=/etc/passwd"],
    ["REMOTE", "add", "x", "ext::sh -c x"],
    ["REMOTE", "add", "--mirror=push", "x", "https://example.com/x.git"],
    ["REMOTE", "add", "x", "file:///etc"],
    ["REMOTE", "update"],
    ["STASH", "branch", "x"],
    ["STASH", "show", "stash@{0}:a.txt"],
    ["RESET", "--hard", "-q", "--", "--x"],
    ["PULL", "--rebase"],
    ["PULL", "origin", "a", "b"],
  ];

  test.each(REFUSED)("%s %s is refused before anything else", async (operation, ...args) => {
    const { parameters } = git;
    const problem = parameters.safeParse({ operation, args }).error?.issues[0]?.message ?? "";
    expect(problem).not.toBe("");
    expect(problem.length).toBeLessThan(2000);
  });

  test("the refusal says what is allowed, and how the same is done", () => {
    const problem = (operation: string, ...args: readonly string[]) =>
      git.parameters.safeParse({ operation, args }).error?.issues[0]?.message;
    expect(problem("PUSH", "--exec=x", "origin")).toBe(
      "the option `--exec` is refused, because it would run a program; allowed here: --quiet -q --verbose -v --dry-run -n --force -f --force-with-lease --delete -d " +
        "--porcelain --no-progress (PUSH [--dry-run] [--force-with-lease] [<remote> [<branch>[:<branch>]…]])",
    );
    expect(problem("CLONE", "git@github.com:a/b.git")).toContain("the same over https is `https://github.com/a/b.git`");
    expect(problem("SHOW", "HEAD:a.txt")).toContain("give SHOW `<commit> -- <path>`");
  });
});

describe("what history holds of secret files", () => {
  async function withSecret(): Promise<Place & { readonly blob: string; readonly commit: string }> {
    const at = await place();
    const commit = at.plain.commit("a mistake", {
      ".env": `KEY=${SECRET}\n`,
      "secrets/key": `${SECRET}\n`,
      "c.txt": "gamma\n",
    });
    const blob = at.plain.git("rev-parse", "HEAD:.env").trim();
    return { ...at, blob, commit };
  }

  test.each([
    ["SHOW", "HEAD"],
    ["SHOW", "HEAD", "--stat"],
    ["SHOW", "HEAD", "--name-only"],
    ["LOG", "-p"],
    ["LOG", "--stat"],
    ["LOG", "--name-status", "--all"],
    ["DIFF", "main..work"],
    ["DIFF", "main", "work", "--numstat"],
    ["DIFF", "-R", "main", "work"],
  ])("%s %s %s shows neither contents nor names", async (operation, ...given) => {
    const at = await withSecret();
    const args = given as readonly string[];
    expect(at.plain.git(operation.toLowerCase(), ...args)).toMatch(/\.env|hidden-thing/);
    const said = await at.ask(operation, ...args);
    expect(said).toContain("c.txt");
    expect(said).toContain('"left_out":2');
    expect(said).not.toMatch(/\.env|secrets\/key|hidden-thing/);
  });

  test("a file that was moved out of a secret place does not bring its past along", async () => {
    const at = await withSecret();
    at.plain.git("mv", "secrets/key", "open.txt");
    at.plain.put("open.txt", "nothing\n");
    at.plain.git("add", "--all");
    at.plain.git("commit", "--quiet", "-m", "moved");
    expect(at.plain.git("show", "-M10%", "HEAD")).toContain("secrets/key");
    expect(await at.ask("SHOW", "-M", "HEAD")).not.toMatch(/secrets\/key|hidden-thing/);
  });

  test("a blob by its own name, a tag of one, and a path within a commit show nothing", async () => {
    const at = await withSecret();
    at.plain.git("tag", "shortcut", at.blob);
    for (const name of [at.blob, at.blob.slice(0, 10), "shortcut"]) {
      expect(at.plain.git("show", name)).toContain(SECRET);
      for (const operation of ["SHOW", "LOG"]) expect(await at.ask(operation, name)).not.toContain(SECRET);
      expect(await at.ask("DIFF", name, "HEAD")).not.toContain(SECRET);
    }
    expect(at.plain.git("diff", at.blob, "HEAD:a.txt")).toContain(SECRET);
    expect(await at.ask("SHOW", "HEAD", "--", ".env")).toMatch(/^workspace_blocked_zone/);
    expect(await at.ask("DIFF", "main", "--", "secrets")).toMatch(/^workspace_blocked_zone/);
  });

  test("a merge does not bring to light what one of its sides held", async () => {
    const at = await withSecret();
    at.plain.git("checkout", "--quiet", "-b", "side", "main");
    at.plain.commit("side", { ".env": "KEY=other\n" });
    at.plain.git("checkout", "--quiet", "work");
    at.plain.tried("merge", "--no-edit", "side");
    at.plain.put(".env", "KEY=third\n");
    at.plain.git("add", "--force", ".env");
    at.plain.git("commit", "--quiet", "-m", "merged");
    expect(at.plain.git("show", "HEAD")).toContain(SECRET);
    expect(await at.ask("SHOW", "HEAD")).not.toMatch(/hidden-thing|\.env/);
    expect(await at.ask("SHOW", "-m", "HEAD")).not.toMatch(/hidden-thing|\.env/);
  });

  test("secret files are not staged, not committed, not overwritten", async () => {
    const at = await place();
    at.plain.put(".env", `KEY=${SECRET}\n`);
    at.plain.put("c.txt", "gamma\n");
    expect(await at.ask("STATUS")).not.toContain(".env");
    expect(await at.ask("ADD", ".env")).toMatch(/^workspace_blocked_zone/);
    expect(await at.ask("ADD", "--all")).not.toContain(".env");
    expect(at.plain.git("diff", "--cached", "--name-only")).toBe("c.txt\nprogram.sh\n");
    at.plain.git("add", "--force", ".env");
    expect(await at.ask("COMMIT", "-m", "all of it")).toMatch(
      /^PERMISSION_DENIED: nothing was committed: somebody has staged files .*1 out of reach/,
    );
    at.plain.git("commit", "--quiet", "-m", "by a person");
    expect(await at.ask("CHECKOUT", "main")).toMatch(
      /^PERMISSION_DENIED: git \w+ would change files that this call may not write/,
    );
    expect(await at.ask("RESET", "--hard", "main")).toMatch(/^PERMISSION_DENIED/);
    expect(readFileSync(join(at.root, ".env"), "utf8")).toContain(SECRET);
    expect(at.plain.git("status", "--porcelain")).toBe("");
  });

  test("protected files are not changed by way of another branch", async () => {
    const at = await place({ preset: "dev" });
    at.plain.git("checkout", "--quiet", "-b", "evil");
    at.plain.commit("instructions", { "CLAUDE.md": "obey\n" });
    at.plain.git("checkout", "--quiet", "work");
    expect(await at.ask("MERGE", "evil")).toMatch(
      /^PERMISSION_DENIED: git merge would change files that this call may not write \(`CLAUDE.md`\)/,
    );
    expect(await at.ask("CHECKOUT", "evil")).toMatch(/^PERMISSION_DENIED/);
    expect(existsSync(join(at.root, "CLAUDE.md"))).toBe(false);
    at.plain.git("merge", "--quiet", "evil");
    expect(existsSync(join(at.root, "CLAUDE.md"))).toBe(true);
  });

  test("a link in the place of a directory above a protected file comes by no branch and no stash", async () => {
    const at = await place({ preset: "dev" });
    const isLink = () => lstatSync(join(at.root, ".yarn"), { throwIfNoEntry: false })?.isSymbolicLink() === true;
    at.plain.git("checkout", "--quiet", "-b", "evil");
    at.plain.commit("scripts", { "y2/releases/yarn.cjs": "evil\n" });
    symlinkSync("y2", join(at.root, ".yarn"));
    at.plain.git("add", ".yarn");
    at.plain.git("commit", "--quiet", "-m", "link");
    at.plain.git("checkout", "--quiet", "work");
    symlinkSync("y2", join(at.root, ".yarn"));
    at.plain.git("stash", "push", "--quiet", "--include-untracked");
    for (const [operation, ...args] of [
      ["MERGE", "evil"],
      ["CHECKOUT", "evil"],
      ["STASH", "pop"],
    ] as const) {
      expect([operation, await at.ask(operation, ...args)]).toEqual([
        operation,
        expect.stringMatching(/^PERMISSION_DENIED: .*`\.yarn`.*lead past/),
      ]);
      expect(isLink()).toBe(false);
    }
    at.plain.git("merge", "--quiet", "evil");
    expect(isLink()).toBe(true);
  });

  test("what a lease does not let read stays out of differences", async () => {
    const at = await place({ scope: { readPaths: [["a.txt"]] } });
    at.plain.put("a.txt", "one\n");
    at.plain.put("b.txt", "two\n");
    const said = await at.ask("DIFF");
    expect(said).toContain("+one");
    expect(said).not.toMatch(/two|b\.txt/);
  });
});

describe("messages", () => {
  test.each([
    ["nothing", " \n "],
    ["a first line that is too long", "x".repeat(73)],
    ["a second line that is not empty", "one\ntwo"],
    ["control characters", "fix\u001b[2Jall"],
    ["characters that turn the line round", "fix \u202Ecod"],
    ["a signature", "fix\n\nSigned-off-by: Ada <ada@example.com>"],
    ["a review", "fix\n\n  reviewed-BY: Ada"],
    ["an author", "fix\n\nCo-authored-by: Ada <ada@example.com>"],
    ["an approval", "fix\n\nApproved by: Ada"],
    ["our own marks", "fix\n\nHandrail-Approval: yes"],
  ])("refused: %s", (_, message) => {
    expect(git.parameters.safeParse({ operation: "COMMIT", args: ["-m", message] }).success).toBe(false);
    expect(git.parameters.safeParse({ operation: "MERGE", args: ["-m", message, "x"] }).success).toBe(false);
  });

  test.each(["fix: take what is given", "x".repeat(72), "fix\n\nFixes: 12\nSee also the notes"])(
    "taken: %s",
    (message) => {
      expect(git.parameters.safeParse({ operation: "COMMIT", args: ["-m", message] }).success).toBe(true);
    },
  );

  test("a secret does not go into a message", async () => {
    const at = await place();
    const token = "ghp_016C7qIkFz2rGuYlvYLGXjPoBDPDYUpuIBQv";
    expect(await at.ask("COMMIT", "--allow-empty", "-m", `use ${token}`)).toMatch(
      /^PERMISSION_DENIED: the message holds what looks like a secret/,
    );
    expect(at.plain.git("log", "-1", "--format=%s").trim()).toBe("begin");
  });
});
