// An approval of a call of git is for the repository as it was: what is staged, and where its references lead.
import { describe, expect, test } from "vitest";
import { git } from "../../src/tools/git/git.ts";
import { approve, askingKernel, denialOf, pending } from "../support/asking.ts";
import { newRepository, type PlainGit } from "../support/git-place.ts";

async function onMain() {
  const kernel = await askingKernel({ tools: [git] });
  const plain: PlainGit = newRepository(kernel.root);
  plain.commit("begin", { "a.txt": "alpha\n" });
  plain.put("a.txt", "reviewed\n");
  plain.git("add", "a.txt");
  /** Asks, lets `meanwhile` happen before a person approves, and says what came of the call. */
  const approved = async (args: readonly string[], meanwhile: () => void) => {
    const asked = kernel.call("git", { operation: args[0], args: args.slice(1) });
    const { ref } = await pending(kernel);
    meanwhile();
    await approve(kernel, ref);
    return asked;
  };
  return { kernel, plain, approved };
}

function staged(plain: PlainGit, path: string): void {
  plain.put(path, "not reviewed\n");
  plain.git("add", path);
}

const COMMIT = ["COMMIT", "-m", "reviewed change"] as const;

describe("a commit on a protected branch that a person approved", () => {
  test("is made of what was staged when it was asked for", async () => {
    const { plain, approved } = await onMain();
    expect((await approved(COMMIT, () => undefined)).outcome).toMatchObject({
      kind: "success",
      data: { subject: "reviewed change" },
    });
    expect(plain.git("show", "main:a.txt")).toBe("reviewed\n");
  });

  test.each<readonly [string, (plain: PlainGit) => void]>([
    ["other content was staged", (plain) => staged(plain, "a.txt")],
    ["another file was staged", (plain) => staged(plain, "b.txt")],
    [
      "the branch has gone on",
      (plain) => plain.git("commit", "--quiet", "--allow-empty", "--only", "-m", "somebody else"),
    ],
    ["another branch was checked out", (plain) => plain.git("checkout", "--quiet", "-b", "other")],
  ])("is not made when %s meanwhile", async (_, change) => {
    const { plain, approved } = await onMain();
    const before = plain.git("rev-list", "--all", "--count");
    expect(denialOf(await approved(COMMIT, () => change(plain)))).toMatchObject({ reason: "tool_approval_invalid" });
    expect(plain.git("log", "--all", "--format=%s")).not.toContain("reviewed change");
    expect(Number(plain.git("rev-list", "--all", "--count"))).toBeLessThanOrEqual(Number(before) + 1);
  });

  test("is made although a file changed that is not staged", async () => {
    const { plain, approved } = await onMain();
    expect((await approved(COMMIT, () => plain.put("c.txt", "gamma\n"))).outcome.kind).toBe("success");
    expect(plain.git("ls-tree", "--name-only", "main")).toBe("a.txt\n");
  });
});

test("an approved change of a name does not reach the branch that got it meanwhile", async () => {
  const { plain, approved } = await onMain();
  plain.git("commit", "--quiet", "-m", "now");
  plain.git("branch", "old");
  const answer = await approved(["BRANCH", "-D", "old"], () => {
    plain.git("checkout", "--quiet", "old");
    plain.commit("the only copy", { "only.txt": "only\n" });
    plain.git("checkout", "--quiet", "main");
  });
  expect(denialOf(answer)).toMatchObject({ reason: "tool_approval_invalid" });
  expect(plain.git("log", "-1", "--format=%s", "old").trim()).toBe("the only copy");
});
