// A day's work with git through the whole pipeline, on a real repository in the real sandbox.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { compileWholePattern } from "../../../src/kernel/index.ts";
import { git } from "../../../src/tools/git/git.ts";
import { gitTools } from "../../../src/tools/git/git-tools.ts";
import { newRepository, type PlainGit } from "../../support/git-place.ts";
import { type MemoryKernelOptions, memoryKernel } from "../../support/memory-kernel.ts";

/** A kernel in a repository with one commit, on the branch `work`. */
async function working(options: Partial<MemoryKernelOptions> = {}) {
  const kernel = await memoryKernel({ tools: [git], ...options });
  const plain: PlainGit = newRepository(kernel.root);
  const first = plain.commit("begin", { "a.txt": "alpha\n", "src/b.txt": "beta\n" });
  plain.git("checkout", "--quiet", "-b", "work");
  const ask = async (operation: string, ...args: readonly string[]) =>
    (await kernel.call("git", { operation, args })).outcome;
  const run = async (operation: string, ...args: readonly string[]): Promise<JsonObject> => {
    const outcome = await ask(operation, ...args);
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
    return outcome.data;
  };
  const refused = async (operation: string, ...args: readonly string[]): Promise<string> => {
    const outcome = await ask(operation, ...args);
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    if (outcome.kind === "denied")
      return `${outcome.denial.reason} ${outcome.denial.ruleId}: ${outcome.denial.message}`;
    return outcome.kind === "error"
      ? `${outcome.code}: ${outcome.message}`
      : `success: ${JSON.stringify(outcome.data)}`;
  };
  return { kernel, plain, first, ask, run, refused };
}

describe("a day's work", () => {
  test("a commit of nothing says so and what to do, and leaves the branch alone", async () => {
    const { plain, first, ask } = await working();
    const empty = {
      kind: "error",
      code: "GIT_FAILED",
      message: "nothing was committed, because nothing is staged",
      suggestion: expect.stringContaining("ADD the files"),
    };
    expect(await ask("COMMIT", "-m", "nothing")).toMatchObject(empty);
    plain.put("a.txt", "changed, not staged\n");
    expect(await ask("COMMIT", "-m", "nothing")).toMatchObject(empty);
    expect(plain.git("rev-parse", "HEAD").trim()).toBe(first);
    expect(await ask("COMMIT", "--allow-empty", "-m", "meant")).toMatchObject({ kind: "success" });
    expect(await ask("COMMIT", "-a", "-m", "all")).toMatchObject({ kind: "success" });
  });

  test("what changed is seen, staged, committed and looked at again", async () => {
    const { kernel, plain, first, run } = await working();
    expect(await run("STATUS")).toMatchObject({ text: "## work", branch: "work", commit: first, clean: true });
    plain.put("a.txt", "alpha\nmore\n");
    plain.put("new.txt", "new\n");
    expect(await run("STATUS")).toMatchObject({
      text: "## work\n M a.txt\n?? new.txt",
      staged: [],
      changed: [{ path: "a.txt", status: "modified" }],
      untracked: ["new.txt"],
      conflicts: [],
      clean: false,
    });
    expect(await run("DIFF")).toMatchObject({
      text: expect.stringContaining("+more\n"),
      files: [{ path: "a.txt", status: "modified", additions: 1, deletions: 0 }],
    });
    expect(await run("ADD", "--all")).toMatchObject({ staged: ["a.txt", "new.txt"] });
    expect(await run("DIFF", "--cached", "--name-only")).toMatchObject({ text: "a.txt\nnew.txt\n" });
    const made = await run("COMMIT", "-m", "say more", "-m", "Because it was asked for.");
    expect(made).toMatchObject({
      branch: "work",
      subject: "say more",
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    expect(plain.git("log", "-1", "--format=%an <%ae>|%B").trim()).toBe(
      "agent <agent@agents.invalid>|say more\n\nBecause it was asked for.",
    );
    expect(await run("LOG")).toMatchObject({
      commits: [
        { commit: made["commit"], parents: [first], author: "agent", subject: "say more" },
        { commit: first, parents: [], author: "Ada", subject: "begin" },
      ],
    });
    expect(await run("SHOW", "HEAD", "--stat")).toMatchObject({ text: expect.stringContaining("2 files changed") });
    const intents = kernel.ledger.of("tool_executed").at(-1);
    expect(intents?.payload).toMatchObject({
      accesses: [{ kind: "git_ref", ref: "HEAD", effect: "read", operation: "show", action: "git:show" }],
      sandbox: { backend: "bwrap", network: "none" },
    });
  });

  test("branches are made, changed to, merged and deleted", async () => {
    const { plain, run } = await working();
    expect(await run("CHECKOUT", "-b", "side")).toMatchObject({ branch: "side" });
    plain.put("side.txt", "side\n");
    await run("ADD", "side.txt");
    await run("COMMIT", "-m", "go aside");
    await run("CHECKOUT", "work");
    expect(existsSync(join(plain.directory, "side.txt"))).toBe(false);
    expect(await run("MERGE", "side")).toMatchObject({ branch: "work", conflicts: [] });
    expect(readFileSync(join(plain.directory, "side.txt"), "utf8")).toBe("side\n");
    expect(await run("BRANCH")).toMatchObject({
      branches: [
        { name: "main", current: false },
        { name: "side", current: false },
        { name: "work", current: true, subject: "go aside" },
      ],
    });
    await run("BRANCH", "-d", "side");
    expect(plain.git("branch", "--format=%(refname:short)")).toBe("main\nwork\n");
    await run("TAG", "v1");
    expect(await run("TAG")).toMatchObject({ tags: [{ name: "v1", subject: "go aside" }] });
  });

  test("a merge that stops says what to do, and goes on", async () => {
    const { plain, run } = await working();
    plain.git("checkout", "--quiet", "-b", "other");
    plain.commit("theirs", { "a.txt": "theirs\n" });
    plain.git("checkout", "--quiet", "work");
    plain.commit("ours", { "a.txt": "ours\n" });
    expect(await run("MERGE", "other")).toMatchObject({
      conflicts: ["a.txt"],
      next: expect.stringContaining("MERGE --continue"),
    });
    expect(await run("STATUS")).toMatchObject({
      conflicts: ["a.txt"],
      in_progress: { operation: "merge" },
      notes: [expect.stringContaining("COMMIT or MERGE --continue")],
    });
    plain.put("a.txt", "both\n");
    await run("ADD", "a.txt");
    expect(await run("COMMIT", "--no-edit")).toMatchObject({ subject: "Merge branch 'other' into work" });
    expect(await run("STATUS")).toMatchObject({ clean: true });
  });

  test("changes are put aside and brought back, and files restored", async () => {
    const { plain, run } = await working({ preset: "open" });
    plain.put("a.txt", "changed\n");
    expect(await run("STASH", "push", "-m", "for later")).toMatchObject({ count: 1 });
    expect(readFileSync(join(plain.directory, "a.txt"), "utf8")).toBe("alpha\n");
    expect(await run("STASH", "list")).toMatchObject({
      stashes: [{ name: "stash@{0}", subject: "On work: for later" }],
    });
    expect(await run("STASH", "show")).toMatchObject({ files: [{ path: "a.txt", status: "modified" }] });
    await run("STASH", "pop");
    expect(readFileSync(join(plain.directory, "a.txt"), "utf8")).toBe("changed\n");
    expect(await run("CHECKOUT", "--", "a.txt")).toMatchObject({ restored: 1 });
    expect(readFileSync(join(plain.directory, "a.txt"), "utf8")).toBe("alpha\n");
  });

  test("a rebase, and a reset", async () => {
    const { plain, run } = await working({ preset: "open" });
    plain.commit("mine", { "mine.txt": "mine\n" });
    plain.git("checkout", "--quiet", "main");
    const upstream = plain.commit("upstream", { "up.txt": "up\n" });
    plain.git("checkout", "--quiet", "work");
    expect(await run("REBASE", "main")).toMatchObject({ branch: "work", conflicts: [] });
    expect(plain.git("rev-parse", "HEAD~1").trim()).toBe(upstream);
    await run("RESET", "--hard", "HEAD~1");
    expect(plain.git("rev-parse", "HEAD").trim()).toBe(upstream);
    expect(existsSync(join(plain.directory, "mine.txt"))).toBe(false);
  });

  test("remotes are named with their https addresses", async () => {
    const { plain, run } = await working({ preset: "open" });
    await run("REMOTE", "add", "origin", "https://example.com/team/service.git");
    expect(await run("REMOTE", "-v")).toMatchObject({
      remotes: [{ name: "origin", url: "https://example.com/team/service.git" }],
    });
    expect(plain.git("remote", "get-url", "origin").trim()).toBe("https://example.com/team/service.git");
    await run("REMOTE", "remove", "origin");
    expect(plain.git("remote")).toBe("");
  });
});

describe("who may do what", () => {
  test("a developer commits on a branch of their own, and is asked about a protected one", async () => {
    const { plain, refused } = await working();
    writeFileSync(join(plain.directory, "a.txt"), "changed\n");
    expect(await refused("ADD", "a.txt")).toMatch(/^success/);
    plain.git("checkout", "--quiet", "main");
    expect(await refused("COMMIT", "-m", "on main")).toMatch(/^tool_approval_required dev\.git-lose/);
    plain.git("checkout", "--quiet", "work");
    expect(await refused("COMMIT", "-m", "on work")).toMatch(/^success/);
  });

  test.each([
    ["REBASE", "main"],
    ["RESET", "--hard"],
    ["RESET", "main"],
    ["COMMIT", "--amend", "--no-edit"],
    ["BRANCH", "-D", "side"],
    ["TAG", "-d", "v1"],
    ["STASH", "drop"],
    ["CHECKOUT", "--", "a.txt"],
    ["REMOTE", "add", "x", "https://example.com/x.git"],
    ["FETCH"],
  ])("%s %s asks", async (operation, ...args) => {
    const { plain, refused } = await working();
    plain.git("branch", "side");
    expect(await refused(operation, ...args)).toMatch(
      /^tool_approval_required (?:dev\.git-(?:rewrite|lose|remote)|FC-2)/,
    );
  });

  test("a push is for the release manager", async () => {
    const { refused } = await working();
    expect(await refused("PUSH", "origin", "work")).toMatch(/^permission_denied base\.push-release-manager-only/);
  });

  test("a reader reads and changes nothing", async () => {
    const { refused } = await working({ preset: "reader" });
    expect(await refused("STATUS")).toMatch(/^success/);
    expect(await refused("LOG", "-p")).toMatch(/^success/);
    expect(await refused("ADD", "a.txt")).toMatch(/^git_op_denied/);
    expect(await refused("COMMIT", "-m", "x")).toMatch(/^git_op_denied/);
  });

  test("a lease names git operations, and does not need commands for them", async () => {
    const { refused } = await working({ scope: { gitOperations: [["status", "diff"]], commands: [["npm"]] } });
    expect(await refused("STATUS")).toMatch(/^success/);
    expect(await refused("LOG")).toMatch(/^lease_scope/);
  });
});

describe("what is meant rather than how git is told", () => {
  async function meaning(options: Partial<MemoryKernelOptions> = {}) {
    const { kernel, plain } = await working({ tools: gitTools, ...options });
    const ask = async (tool: string, args: object = {}): Promise<string> => {
      const { outcome } = await kernel.call(tool, { ...args });
      if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
      if (outcome.kind === "denied") return `${outcome.denial.reason} ${outcome.denial.ruleId}`;
      return outcome.kind === "error" ? `${outcome.code}: ${outcome.message}` : JSON.stringify(outcome.data);
    };
    return { kernel, plain, ask };
  }

  test("a branch is made, files are staged and committed, without a prompt", async () => {
    const { kernel, plain, ask } = await meaning();
    expect(await ask("git_checkout", { branch: "feature", create_if_missing: true })).toContain('"branch":"feature"');
    expect(await ask("git_checkout", { branch: "work", create_if_missing: true })).toContain('"branch":"work"');
    expect(await ask("git_checkout", { branch: "absent" })).toMatch(/^FILE_NOT_FOUND/);
    plain.put("a.txt", "changed\n");
    plain.put(".env", "KEY=value\n");
    expect(await ask("git_status")).toContain('"changed":[{"path":"a.txt","status":"modified"}]');
    expect(await ask("git_diff")).toContain("+changed");
    expect(await ask("git_add", { files: ["a.txt", ".env"] })).toBe("workspace_blocked_zone ZONE:secret");
    expect(await ask("git_add", { files: ["."] })).toContain('"staged":["a.txt"]');
    expect(await ask("git_diff", { staged: true })).toContain("+changed");
    expect(await ask("git_commit", { message: "fix\n\nSigned-off-by: Ada <ada@example.com>" })).toMatch(
      /^tool_input_invalid/,
    );
    expect(await ask("git_commit", { message: "change a" })).toContain('"subject":"change a"');
    expect(plain.git("log", "-1", "--format=%s", "--name-only")).toBe("change a\n\na.txt\n");
    expect(kernel.ledger.of("tool_executed").at(-1)?.payload).toMatchObject({
      accesses: [{ kind: "git_ref", ref: "work", operation: "commit" }],
    });
  });

  test("names of branches are those that git and the operator take", async () => {
    const { ask } = await meaning({
      gitRules: { protectedBranches: ["main"], branchPattern: await compileWholePattern("agent/.+") },
    });
    expect(await ask("git_checkout", { branch: "mine", create_if_missing: true })).toMatch(
      /^PERMISSION_DENIED: `mine` is not of the form/,
    );
    expect(await ask("git_checkout", { branch: "agent/mine", create_if_missing: true })).toContain(
      '"branch":"agent/mine"',
    );
    expect(await ask("git_checkout", { branch: "--force" })).toMatch(/^tool_input_invalid/);
  });

  test("a push is the release manager's, tried without a person and done with one", async () => {
    const push = { remote: "origin", branch: "work" };
    expect(await (await meaning()).ask("git_push", push)).toBe("permission_denied RBAC:git_push");
    const { plain, ask } = await meaning({ session: { role: "release_manager" } });
    expect(await ask("git_push", push)).toMatch(/^FILE_NOT_FOUND: there is no remote `origin`/);
    expect(await ask("git_push", { ...push, confirm: true })).toMatch(/^tool_approval_required/);
    plain.git("remote", "add", "origin", "git@example.com:team/service.git");
    expect(await ask("git_push", push)).toMatch(
      /^NOT_SUPPORTED: `origin` cannot be reached: ssh is not used here; the same over https is `https:\/\/example.com\/team\/service.git`/,
    );
  });
});
