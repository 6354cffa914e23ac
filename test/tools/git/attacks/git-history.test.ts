// What a command does to get at secret files that the history of a repository holds. Where nothing is a secret zone the
// same commands read them.
import { renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shell } from "../../../../src/tools/shell/shell.ts";
import { newRepository, type PlainGit, plainGit } from "../../../support/git-place.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";
import { testedBackend } from "../../../support/sandbox-place.ts";

const SECRET = "the-only-copy-of-a-hidden-thing";

/** Everything that lies in the repository, whether or not anything leads to it. */
const READ_ALL = `git -c safe.directory='*' cat-file --batch-all-objects --batch-check='%(objectname) %(objecttype)' |
  while read -r id type; do git -c safe.directory='*' cat-file "$type" "$id"; done`;

interface Place {
  readonly root: string;
  readonly plain: PlainGit;
  readonly run: (command: string) => Promise<string>;
  /** As it would be if no file were secret. */
  readonly withoutSecretZones: () => Promise<void>;
}

async function place(): Promise<Place> {
  const kernel = await memoryKernel({ tools: [shell], preset: "open", backend: testedBackend });
  const plain = newRepository(kernel.root);
  plain.commit("begin", { "a.txt": "alpha\n", ".env.example": "KEY=\n" });
  return {
    root: kernel.root,
    plain,
    async run(command) {
      const { outcome } = await kernel.call("shell", { command });
      if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
      return JSON.stringify(outcome.kind === "success" ? outcome.data : outcome);
    },
    withoutSecretZones: () => kernel.rezone({ secret: [] }),
  };
}

const HISTORIES: Readonly<
  Record<string, { readonly make: (at: Place) => void; readonly command?: string; readonly hidden?: string }>
> = {
  "a file that was removed again": {
    make({ plain }) {
      plain.commit("add", { "secrets/k": SECRET });
      plain.git("rm", "--quiet", "secrets/k");
      plain.git("commit", "--quiet", "-m", "remove");
    },
    command: "git -c safe.directory='*' show HEAD~1:secrets/k",
  },
  "a commit that nothing leads to any more": {
    make({ plain }) {
      plain.commit("add", { ".env": SECRET });
      plain.git("reset", "--quiet", "--hard", "HEAD~1");
      plain.git("reflog", "expire", "--expire=now", "--all");
    },
  },
  "a file that is only staged": {
    make({ plain }) {
      plain.put("config/.env.local", SECRET);
      plain.git("add", "--force", "config/.env.local");
    },
    command: "git -c safe.directory='*' show :config/.env.local",
  },
  "a file that only a merge brought": {
    make({ plain }) {
      plain.git("checkout", "--quiet", "-b", "other");
      plain.commit("other", { "b.txt": "beta" });
      plain.git("checkout", "--quiet", "-");
      plain.commit("one", { "c.txt": "gamma" });
      plain.git("merge", "--quiet", "--no-commit", "other");
      plain.commit("merge", { ".env": SECRET });
      plain.git("rm", "--quiet", "-f", ".env");
      plain.git("commit", "--quiet", "-m", "remove");
    },
  },
  "packed, behind a name with a line feed": {
    make({ plain }) {
      plain.commit("add", { "odd\nname/.env": SECRET });
      plain.git("rm", "--quiet", "-r", "odd\nname");
      plain.git("commit", "--quiet", "-m", "remove");
      plain.git("gc", "--quiet");
    },
  },
  "a file that is only staged in another working tree": {
    make({ plain, root }) {
      plain.git("worktree", "add", "--quiet", "--detach", "../linked");
      const linked = plainGit(join(root, "../linked"));
      linked.put(".env", SECRET);
      linked.git("add", "--force", ".env");
    },
  },
  "commits that are said to have others before them": {
    make({ plain }) {
      const one = plain.commit("one", { ".env": SECRET });
      const two = plain.commit("two", { "b.txt": "beta" });
      plain.git("reset", "--quiet", "--hard", "HEAD~2");
      plain.put(".git/info/grafts", `${one} ${two}\n${two} ${one}\n`);
    },
  },
  "in a repository within the tree": {
    make({ plain, root }) {
      plain.put("sub/x", "");
      const inner = newRepository(join(root, "sub"));
      inner.commit("add", { ".env": SECRET });
      inner.git("rm", "--quiet", ".env");
      inner.git("commit", "--quiet", "-m", "remove");
    },
    command: `cd sub && ${READ_ALL}`,
    hidden: "sub",
  },
};

test.each(Object.entries(HISTORIES))(
  "%s cannot be read out of the repository",
  async (_what, { make, command = READ_ALL, hidden = "." }) => {
    const at = await place();
    make(at);
    const answer = await at.run(command);
    expect(answer).not.toContain(SECRET);
    expect(answer).toContain(`"hidden_repositories":["${hidden}"]`);
    // the objects themselves are not there either, whoever reads them
    expect(await at.run(`ls -A ${hidden}/.git; echo "($?)"`)).toContain('"(0)\\n"');
    await at.withoutSecretZones();
    expect(await at.run(command)).toContain(SECRET);
  },
);

test("a repository without secret files is seen, and hidden from the first command on after one was committed", async () => {
  const at = await place();
  const log = "git -c safe.directory='*' log --format=%s";
  for (let turn = 0; turn < 2; turn += 1) {
    const seen = await at.run(log);
    expect(seen).toContain("begin");
    expect(seen).not.toContain("hidden_repositories");
  }
  at.plain.commit("add", { ".env": SECRET });
  expect(await at.run(log)).toContain('"hidden_repositories":["."]');
});

test.each<readonly [string, (at: Place) => void]>([
  ["settings that are not understood", ({ plain }) => plain.git("config", "extensions.partialClone", "origin")],
  [
    "commits that are missing",
    ({ plain, root }) => {
      const first = plain.git("rev-parse", "HEAD").trim();
      plain.commit("second", { "b.txt": "beta" });
      rmSync(join(root, ".git/objects", first.slice(0, 2), first.slice(2)));
    },
  ],
  [
    "objects that lie elsewhere",
    ({ root }) => {
      renameSync(join(root, ".git/objects"), join(root, "objects"));
      symlinkSync("../objects", join(root, ".git/objects"));
    },
  ],
])("a repository with %s cannot be looked through, and is hidden", async (_what, change) => {
  const at = await place();
  expect(await at.run("true")).not.toContain("hidden_repositories");
  change(at);
  expect(await at.run("true")).toContain('"hidden_repositories":["."]');
});

/** Moves the repository to `moved`, with a secret file in its past. */
function moved({ plain, root }: Place): void {
  plain.commit("add", { ".env": SECRET });
  plain.git("rm", "--quiet", ".env");
  plain.git("commit", "--quiet", "-m", "remove");
  renameSync(join(root, ".git"), join(root, "moved"));
}

test.each<readonly [string, (at: Place) => void, string]>([
  [
    "behind a link",
    (at) => {
      moved(at);
      symlinkSync("moved", join(at.root, ".git"));
    },
    READ_ALL,
  ],
  [
    "that a file leads to",
    (at) => {
      moved(at);
      at.plain.put(".git", "gitdir: moved\n");
    },
    READ_ALL,
  ],
  ["without a working tree", moved, `cd moved && ${READ_ALL}`],
])("a repository %s is hidden for what its history holds", async (_what, make, command) => {
  const at = await place();
  make(at);
  const answer = await at.run(command);
  expect(answer).not.toContain(SECRET);
  expect(answer).toContain('"hidden_repositories":["moved"]');
  expect(await at.run("ls -A moved; mv moved elsewhere || echo stays")).toContain('"stdout":"stays\\n"');
  await at.withoutSecretZones();
  expect(await at.run(command)).toContain(SECRET);
});

test("taking one file of it away does not make a repository something else", async () => {
  const at = await place();
  moved(at);
  const commit = at.plain.git("--git-dir=moved", "rev-parse", "main~1").trim();
  rmSync(join(at.root, "moved/HEAD"));
  const answer = await at.run(`echo 'ref: refs/heads/main' >moved/HEAD; cd moved && ${READ_ALL}`);
  expect(answer).not.toContain(SECRET);
  expect(answer).toContain('"hidden_repositories":["moved"]');
  at.plain.put("moved/HEAD", "ref: refs/heads/main\n");
  expect(at.plain.git("--git-dir=moved", "show", `${commit}:.env`)).toBe(SECRET);
});

test("a repository without a working tree and without secret files is seen and used, and so is what only looks a little like one", async () => {
  const at = await place();
  at.plain.git("clone", "--quiet", "--bare", ".", "bare.git");
  at.plain.put("src/objects/a.ts", "a");
  at.plain.put("src/refs/b.ts", "b");
  const answer = await at.run(
    "git -c safe.directory='*' -C bare.git log --format=%s; touch bare.git/mine && cat src/objects/a.ts src/refs/b.ts",
  );
  expect(answer).toContain('"stdout":"begin\\nab"');
  expect(answer).not.toContain("hidden_repositories");
  at.plain.commit("add", { ".env": SECRET });
  at.plain.git("push", "--quiet", "bare.git", "HEAD:refs/heads/new");
  expect(await at.run("ls -A bare.git")).toContain('"hidden_repositories":[".","bare.git"]');
});

test("what submodules keep within a repository is hidden with it", async () => {
  const at = await place();
  at.plain.put(".git/modules/sub/HEAD", "ref: refs/heads/main\n");
  expect(await at.run("true")).toContain('"hidden_repositories":["."]');
});
