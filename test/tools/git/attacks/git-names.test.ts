// Names that mean one thing to whoever judges them and another to git, and texts that speak for somebody. Plain git
// shows that each attack works; the kernel refuses it, or shows what is really meant.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { git } from "../../../../src/tools/git/git.ts";
import { gitTools } from "../../../../src/tools/git/git-tools.ts";
import { type Place, place, SECRET } from "../../../support/hostile-repository.ts";

const ASKED = /^tool_approval_required/;

describe("one name, two things", () => {
  test("a tag beside a branch of the same name does not bring in what the branch holds", async () => {
    const at = await place();
    at.plain.git("tag", "both", "main");
    at.plain.git("checkout", "--quiet", "-b", "both");
    at.plain.commit("secret", { ".env": `KEY=${SECRET}\n`, "c.txt": "gamma\n" });
    at.plain.git("checkout", "--quiet", "work");
    // what is asked about is the tag, what is changed to is the branch
    expect(at.plain.git("diff", "--name-only", "HEAD", "both^{commit}")).toBe("");
    at.plain.git("checkout", "--quiet", "both", "--");
    expect(existsSync(join(at.root, ".env"))).toBe(true);
    at.plain.git("checkout", "--quiet", "work");
    expect(await at.ask("CHECKOUT", "both")).toMatch(
      /^PERMISSION_DENIED: git \w+ would change files that this call may not write/,
    );
    expect([at.plain.git("branch", "--show-current").trim(), existsSync(join(at.root, "c.txt"))]).toEqual([
      "work",
      false,
    ]);
  });

  test("a branch whose name looks like an object's is not taken for the object", async () => {
    const at = await place();
    const name = at.plain.git("rev-parse", "main").trim();
    at.plain.commit("secret", { ".env": `KEY=${SECRET}\n` });
    writeFileSync(join(at.root, `.git/refs/heads/${name}`), at.plain.git("rev-parse", "HEAD"));
    at.plain.git("checkout", "--quiet", "main");
    at.plain.git("checkout", "--quiet", name, "--");
    expect(existsSync(join(at.root, ".env"))).toBe(true);
    at.plain.git("checkout", "--quiet", "main");
    expect(await at.ask("CHECKOUT", name)).toMatch(/^PERMISSION_DENIED/);
  });

  test("a branch that stands for a protected one is as protected", async () => {
    const at = await place({ preset: "dev" });
    at.plain.git("symbolic-ref", "refs/heads/alias", "refs/heads/main");
    at.plain.git("checkout", "--quiet", "alias");
    const main = at.plain.git("rev-parse", "main");
    expect(await at.ask("COMMIT", "--allow-empty", "-m", "on main after all")).toMatch(ASKED);
    expect(at.plain.git("rev-parse", "main")).toBe(main);
    at.plain.git("commit", "--quiet", "--allow-empty", "-m", "plainly");
    expect(at.plain.git("rev-parse", "main")).not.toBe(main);
    at.plain.git("symbolic-ref", "refs/heads/alias", "refs/heads/work");
    expect(await at.ask("COMMIT", "--allow-empty", "-m", "on work")).toContain('"branch":"work"');
  });

  test("a `HEAD` that names no branch is none that is committed to", async () => {
    const at = await place();
    at.plain.git("symbolic-ref", "HEAD", "refs/remotes/origin/main");
    expect(at.plain.tried("commit", "--quiet", "--allow-empty", "-m", "plainly").code).toBe(0);
    expect(await at.ask("COMMIT", "--allow-empty", "-m", "asked")).toMatch(
      /^NOT_SUPPORTED: the repository cannot be used: `.git\/HEAD`/,
    );
  });

  test("renaming the current branch is judged by the branch that is gone afterwards", async () => {
    const at = await place();
    at.plain.git("checkout", "--quiet", "main");
    await at.ask("BRANCH", "-m", "other");
    const ref = { kind: "git_ref", operation: "branch", force: true };
    expect(at.touched()).toEqual([
      expect.objectContaining({ ...ref, ref: "main", protected: true }),
      expect.objectContaining({ ...ref, ref: "other" }),
    ]);
    await at.ask("BRANCH", "-m", "other", "main");
    expect(at.touched()).toEqual([
      expect.objectContaining({ ...ref, ref: "other" }),
      expect.objectContaining({ ...ref, ref: "main", protected: true }),
    ]);
    at.plain.git("branch", "-m", "other");
    expect(at.plain.tried("rev-parse", "--verify", "main").code).not.toBe(0);
  });

  test("who wrote a commit is said by the commit, not by a file of the tree", async () => {
    const at = await place();
    at.plain.put(".mailmap", "Grace <grace@example.com> <ada@example.com>\n");
    expect(at.plain.git("log", "-1")).toContain("Grace");
    for (const [operation, ...args] of [["LOG", "-p"], ["SHOW"], ["LOG", "--format=full"]] as const) {
      const said = await at.ask(operation, ...args);
      expect(said).toContain("Ada <ada@example.com>");
      expect(said).not.toContain("Grace");
    }
  });

  test("a note that is a secret file is not shown with its commit", async () => {
    const at = await place();
    at.plain.put("kept", SECRET);
    const blob = at.plain.git("hash-object", "-w", "kept").trim();
    at.plain.git("notes", "add", "-C", blob, "HEAD");
    expect(at.plain.git("show")).toContain(SECRET);
    for (const [operation, ...args] of [["SHOW"], ["LOG", "-p"], ["LOG", "--format=full"]] as const)
      expect(await at.ask(operation, ...args)).not.toContain(SECRET);
  });

  test("commits have the parents that they name, whatever `info/grafts` says", async () => {
    const at = await place();
    at.plain.commit("middle", { "c.txt": "gamma\n" });
    const top = at.plain.commit("top", { "d.txt": "delta\n" });
    at.plain.put(".git/info/grafts", `${top}\n`);
    expect(at.plain.git("log", "--format=%s")).toBe("top\n");
    expect(await at.ask("LOG")).toContain('"subject":"middle"');
  });

  test("a merge takes the commit that was looked at, with a message that says of which name", async () => {
    const at = await place();
    at.plain.git("checkout", "--quiet", "-b", "side");
    at.plain.commit("side", { "side.txt": "side\n" });
    at.plain.git("checkout", "--quiet", "work");
    at.plain.commit("mine", { "mine.txt": "mine\n" });
    expect(await at.ask("MERGE", "side")).toContain("Merge branch 'side' into work");
    expect(at.plain.git("log", "-1", "--format=%s").trim()).toBe("Merge branch 'side' into work");
  });
});

describe("names of what is new", () => {
  const NAMES = [
    "$(touch$IFS'TRACE')",
    "`touch$IFS'TRACE'`",
    "x;touch$IFS'TRACE'",
    "x|touch",
    "x&touch",
    "x'y",
    'x"y',
    "<b>",
    "{x}",
    "%0a",
    "!x",
    "-x",
    "/x",
    "FETCH_HEAD",
    "HEAD",
    "stash",
  ];

  test("a script that trusts a name runs what it holds (the control)", async () => {
    const at = await place();
    at.plain.git("checkout", "--quiet", "-b", NAMES[0] ?? "");
    spawnSync("sh", ["-c", `sh -c "echo $(git branch --show-current)"`], { cwd: at.root, timeout: 120_000 });
    expect(at.hasRun()).toBe(true);
  });

  test.each(NAMES)("%s is none", async (name) => {
    const fits = (operation: string, ...args: readonly string[]) =>
      git.parameters.safeParse({ operation, args }).success;
    for (const [operation, ...args] of [
      ["BRANCH", name],
      ["BRANCH", "--force", name, "main"],
      ["BRANCH", "-m", "work", name],
      ["CHECKOUT", "-b", name],
      ["TAG", name],
      ["PUSH", "origin", `work:${name}`],
      ["PUSH", "origin", `work:refs/heads/${name}`],
    ] as const)
      expect([operation, args, fits(operation, ...args)]).toEqual([operation, args, false]);
    const checkout = gitTools.find((tool) => tool.name === "git_checkout");
    expect(checkout?.parameters.safeParse({ branch: name, create_if_missing: true }).success).toBe(false);
  });

  test.each(["feature/x-1", "fix/#12", "user@team/x", "c++", "größe", "v1.2.3", "a_b"])("%s is one", (name) => {
    for (const [operation, ...args] of [
      ["BRANCH", name],
      ["CHECKOUT", "-b", name],
      ["TAG", name],
      ["PUSH", "origin", `work:${name}`],
    ] as const)
      expect(git.parameters.safeParse({ operation, args }).success).toBe(true);
  });

  test("what is there under such a name can be used and taken away", async () => {
    const at = await place();
    at.plain.git("branch", "x;y");
    expect(await at.ask("CHECKOUT", "x;y")).toContain('"branch":"x;y"');
    await at.ask("CHECKOUT", "work");
    expect(await at.ask("BRANCH", "-d", "x;y")).toContain("deleted x;y");
  });
});

describe("what was put aside", () => {
  test("files that git did not know come back only when the call may write each", async () => {
    const at = await place();
    const stashed = () => {
      at.plain.put(".env", `KEY=${SECRET}\n`);
      at.plain.put("open.txt", "open\n");
      at.plain.git("stash", "push", "--quiet", "--include-untracked");
    };
    stashed();
    at.plain.git("stash", "pop", "--quiet");
    expect(readdirSync(at.root)).toEqual(expect.arrayContaining([".env", "open.txt"]));
    stashed();
    for (const verb of ["pop", "apply"])
      expect(await at.ask("STASH", verb)).toMatch(
        /^PERMISSION_DENIED: git \w+ would change files that this call may not write \(1 out of reach\)/,
      );
    expect(readdirSync(at.root)).not.toContain("open.txt");
    expect(at.plain.git("stash", "list")).toContain("stash@{0}");
  });

  test("the same without a secret file comes back", async () => {
    const at = await place();
    at.plain.put("open.txt", "open\n");
    at.plain.git("stash", "push", "--quiet", "--include-untracked");
    expect(await at.ask("STASH", "pop")).toContain('"conflicts":[]');
    expect(readFileSync(join(at.root, "open.txt"), "utf8")).toBe("open\n");
  });

  test("a secret file in conflict is not named", async () => {
    const at = await place();
    at.plain.commit("one", { ".env": "KEY=1\n" });
    at.plain.git("checkout", "--quiet", "-b", "side");
    at.plain.commit("two", { ".env": "KEY=2\n" });
    at.plain.git("checkout", "--quiet", "work");
    at.plain.commit("three", { ".env": "KEY=3\n" });
    expect(at.plain.tried("merge", "side").stdout).toContain(".env");
    expect(await at.ask("COMMIT", "--all", "-m", "all")).toBe(
      "GIT_FAILED: a file that this call may not see is in conflict",
    );
  });
});

describe("texts that speak for somebody", () => {
  const fits = (message: string) => git.parameters.safeParse({ operation: "COMMIT", args: ["-m", message] }).success;

  test.each([
    ["hyphens of another kind", "Signed\u2010off\u2011by: Ada <ada@example.com>"],
    ["letters of full width", "\uff33igned-off-by: Ada <ada@example.com>"],
    ["a letter with an accent", "Sign\u00e9d-off-by: Ada <ada@example.com>"],
    ["a space that does not break", "\u00a0Signed-off-by: Ada <ada@example.com>"],
    ["underscores", "signed_off_by: Ada <ada@example.com>"],
    ["a trailer that is not usual", "Helped-by: Ada <ada@example.com>"],
    ["somebody who was there", "Pair-programmed-with: Ada <ada@example.com>"],
    ["an approval in a few letters", "LGTM-by: Ada <ada@example.com>"],
  ])("refused: %s", (_, trailer) => {
    expect(fits(`fix\n\n${trailer}`)).toBe(false);
  });

  test.each(["Fixed by: waiting longer", "Refs: #12", "Depends-on: two", "Stand-by mode: see below"])(
    "taken: %s",
    (line) => {
      expect(fits(`fix\n\n${line}`)).toBe(true);
    },
  );

  async function signed(): Promise<Place> {
    const at = await place();
    at.plain.commit("careful change\n\nSigned-off-by: Ada <ada@example.com>", { "c.txt": "careful\n" });
    at.plain.commit("next", { "d.txt": "delta\n" });
    at.plain.git("reset", "--quiet", "--soft", "HEAD~1");
    return at;
  }

  test("what a person has signed is not replaced under their signature", async () => {
    const at = await signed();
    expect(await at.ask("COMMIT", "--amend", "--no-edit")).toMatch(
      /^PERMISSION_DENIED: the message of the commit that would be replaced says `Signed-off-by:`/,
    );
    expect(await at.ask("COMMIT", "--amend", "-m", "another change")).toContain('"subject":"another change"');
    const plainly = await signed();
    plainly.plain.git("commit", "--quiet", "--amend", "--no-edit");
    expect(plainly.plain.git("log", "-1", "--format=%B", "--name-only")).toMatch(/Signed-off-by: Ada[\s\S]*d\.txt/);
  });

  test("a secret goes into no message, whatever it is the message of", async () => {
    const token = "ghp_016C7qIkFz2rGuYlvYLGXjPoBDPDYUpuIBQv";
    const at = await place();
    at.plain.git("branch", "side");
    at.plain.put("a.txt", "changed\n");
    for (const [operation, ...args] of [
      ["TAG", "v1", "-m"],
      ["STASH", "push", "-m"],
      ["MERGE", "--no-ff", "side", "-m"],
    ] as const)
      expect(await at.ask(operation, ...args, `use ${token}`)).toMatch(
        /^PERMISSION_DENIED: the message holds what looks like a secret/,
      );
    expect([at.plain.git("tag"), at.plain.git("stash", "list")]).toEqual(["", ""]);
    at.plain.git("tag", "v1", "-m", `use ${token}`);
    expect(at.plain.git("tag", "-n")).toContain(token);
  });
});
