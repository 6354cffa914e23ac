// What a person approved is what git works on: names that come to mean something else, and what is staged, put aside or
// under way and is exchanged, while a person decides and at every later moment. Plain git takes what is there.
import { describe, expect, test } from "vitest";
import { git } from "../../../../src/tools/git/git.ts";
import { approve, askingKernel, denialOf, pending } from "../../../support/asking.ts";
import { newRepository, type PlainGit } from "../../../support/git-place.ts";
import type { MemoryKernel } from "../../../support/memory-kernel.ts";

/** `main` is checked out; `feature` holds what may be seen, and `evil` what nobody has looked at. */
async function place() {
  const kernel = await askingKernel({ tools: [git] });
  const plain: PlainGit = newRepository(kernel.root);
  plain.commit("begin", { "a.txt": "a\n", "b.txt": "b\n" });
  plain.git("checkout", "--quiet", "-b", "evil");
  plain.commit("evil", { "evil.txt": "evil\n" });
  plain.git("checkout", "--quiet", "-b", "feature", "main");
  const shown = plain.commit("harmless", { "c.txt": "harmless\n" });
  plain.git("checkout", "--quiet", "main");
  return { kernel, plain, shown };
}

const ask = (kernel: MemoryKernel, [operation, ...args]: readonly string[]) =>
  kernel.call("git", { operation: operation ?? "", args });

/** Asks, lets `meanwhile` happen before a person approves, and says what the person saw and what came of the call. */
async function approved(kernel: MemoryKernel, call: readonly string[], meanwhile: () => void) {
  const asked = ask(kernel, call);
  const waiting = await pending(kernel);
  const { ref } = waiting;
  meanwhile();
  await approve(kernel, ref);
  return { seen: JSON.stringify(waiting), response: await asked };
}

/** `act` happens when the policy is looked up for the `turn`th time after a person approved the call. */
async function approvedThen(kernel: MemoryKernel, call: readonly string[], turn: number, act: () => void) {
  const look = kernel.policy.current;
  let left = Number.POSITIVE_INFINITY;
  kernel.policy.current = () => {
    left -= 1;
    if (left === 0) act();
    return look();
  };
  const { response } = await approved(kernel, call, () => {
    left = turn;
  });
  return { response, hasActed: left <= 0 };
}

const hasEvil = (plain: PlainGit, name = "main") => plain.tried("cat-file", "-e", `${name}:evil.txt`).code === 0;

describe("a name that comes to mean something else while a person decides", () => {
  test.each([
    "MERGE feature",
    "MERGE feature~0",
    "MERGE feature^0",
    "MERGE feature^{commit}",
    "MERGE feature@{0}",
    "RESET --hard feature~0",
    "REBASE feature~0",
    "REBASE --onto feature main",
    "BRANCH -f release/1 feature~0",
    "BRANCH -f release/1 feature~1",
  ])("%s", async (call) => {
    const { kernel, plain, shown } = await place();
    const words = call.split(" ");
    const { seen, response } = await approved(kernel, words, () => plain.git("tag", "feature", "evil"));
    expect(denialOf(response)).toMatchObject({ reason: "tool_approval_invalid" });
    expect(seen).toContain(shown);
    expect([hasEvil(plain), hasEvil(plain, "release/1")]).toEqual([false, false]);
  });

  test("control: plain git takes the tag", async () => {
    const { plain } = await place();
    plain.git("tag", "feature", "evil");
    plain.git("merge", "--quiet", "--no-edit", "feature~0");
    expect(hasEvil(plain)).toBe(true);
  });

  test("a beginning of a commit's name is looked up at once, in packs, too", async () => {
    const { kernel, plain, shown } = await place();
    for (const pack of [false, true]) {
      if (pack) plain.git("gc", "--quiet");
      const short = shown.slice(0, 8);
      const { seen, response } = await approved(kernel, ["MERGE", short], () => plain.git("tag", short, "evil"));
      expect(denialOf(response)).toMatchObject({ reason: "tool_approval_invalid" });
      expect(seen).toContain(shown);
      expect(hasEvil(plain)).toBe(false);
      plain.git("tag", "-d", short);
    }
    expect((await approved(kernel, ["MERGE", shown.slice(0, 8)], () => undefined)).response.outcome.kind).toBe(
      "success",
    );
    expect(plain.git("rev-parse", "main").trim()).toBe(shown);
  });

  test("a beginning that names nothing yet names nothing later", async () => {
    const { kernel, plain } = await place();
    const other = newRepository(`${kernel.root}/../other`);
    const evil = other.commit("evil", { "evil.txt": "evil\n" });
    const call = ["RESET", "--hard", evil.slice(0, 8)];
    const { response } = await approved(kernel, call, () => plain.git("fetch", "--quiet", other.directory, "main"));
    expect(denialOf(response)).toMatchObject({ reason: "tool_approval_invalid" });
    expect(hasEvil(plain)).toBe(false);
    // control: by now git takes it
    plain.git("reset", "--quiet", "--hard", evil.slice(0, 8));
    expect(hasEvil(plain)).toBe(true);
  });

  test("what is put aside is shown with its commit and message, and is that one", async () => {
    const { kernel, plain } = await place();
    plain.put("b.txt", "precious\n");
    plain.git("stash", "push", "--quiet", "-m", "precious");
    plain.put("a.txt", "junk\n");
    plain.git("stash", "push", "--quiet", "-m", "of no use");
    const junk = plain.git("rev-parse", "stash@{0}").trim();
    const { seen, response } = await approved(kernel, ["STASH", "drop"], () => plain.git("stash", "drop", "--quiet"));
    expect(denialOf(response)).toMatchObject({ reason: "tool_approval_invalid" });
    expect(seen).toContain(junk);
    expect(seen).toContain("On main: of no use");
    expect(plain.git("stash", "list")).toContain("precious");
  });
});

describe("at every moment after a person agreed", () => {
  const TURNS = [1, 2, 3, 4, 5, 6, 7, 8];

  /** Tries an attack at each moment. @param attack prepares it, and says whether it came to harm */
  async function atEachMoment(
    attack: (plain: PlainGit) => {
      readonly call: readonly string[];
      readonly act: () => void;
      readonly isHarmed: () => boolean;
    },
  ): Promise<void> {
    const { kernel, plain } = await place();
    let acted = 0;
    let refused = 0;
    for (const turn of TURNS) {
      const { call, act, isHarmed } = attack(plain);
      const { response, hasActed } = await approvedThen(kernel, call, turn, act);
      expect([turn, isHarmed()]).toEqual([turn, false]);
      if (hasActed) acted += 1;
      if (response.outcome.kind !== "success") refused += 1;
    }
    // it took place while the call ran, and was seen
    expect(acted).toBeGreaterThan(1);
    expect(refused).toBeGreaterThan(0);
  }

  test("a commit holds what was staged", async () => {
    await atEachMoment((plain) => {
      plain.git("reset", "--quiet", "--hard", "feature~1");
      plain.put("a.txt", "harmless\n");
      plain.git("add", "a.txt");
      const act = () => {
        plain.put("a.txt", "evil\n");
        plain.git("add", "a.txt");
      };
      const isHarmed = () => plain.git("show", "main:a.txt") === "evil\n";
      return { call: ["COMMIT", "-m", "approved"], act, isHarmed };
    });
  });

  test("a merge takes the commit that was shown", async () => {
    await atEachMoment((plain) => {
      plain.git("reset", "--quiet", "--hard", "feature~1");
      plain.tried("tag", "-d", "feature");
      const act = () => void plain.git("tag", "feature", "evil");
      return { call: ["MERGE", "feature"], act, isHarmed: () => hasEvil(plain) };
    });
  });

  test("a merge that goes on is of what was resolved", async () => {
    await atEachMoment((plain) => {
      plain.tried("merge", "--abort");
      plain.git("checkout", "--quiet", "--force", "-B", "theirs", "feature~1");
      plain.commit("theirs", { "a.txt": "theirs\n" });
      plain.git("checkout", "--quiet", "-B", "main", "feature~1");
      plain.commit("ours", { "a.txt": "ours\n" });
      plain.tried("merge", "theirs");
      plain.put("a.txt", "harmless\n");
      plain.git("add", "a.txt");
      const act = () => {
        plain.put("a.txt", "evil\n");
        plain.git("add", "a.txt");
      };
      const isHarmed = () => plain.git("show", "main:a.txt") === "evil\n";
      return { call: ["MERGE", "--continue"], act, isHarmed };
    });
  });

  test("a stash that is dropped is the one that was shown", async () => {
    await atEachMoment((plain) => {
      plain.git("reset", "--quiet", "--hard", "feature~1");
      plain.git("stash", "clear");
      plain.put("b.txt", "precious\n");
      plain.git("stash", "push", "--quiet", "-m", "precious");
      plain.put("a.txt", "junk\n");
      plain.git("stash", "push", "--quiet", "-m", "junk");
      // git's own lock keeps it out while the other lands
      const act = () => void plain.tried("stash", "drop", "--quiet");
      return { call: ["STASH", "drop"], act, isHarmed: () => !plain.git("stash", "list").includes("precious") };
    });
  });

  test("control: plain git drops what has the number", async () => {
    const { plain } = await place();
    for (const message of ["precious", "junk"]) {
      plain.put("b.txt", `${message}\n`);
      plain.git("stash", "push", "--quiet", "-m", message);
    }
    for (const _ of ["what was meant", "what was not"]) plain.git("stash", "drop", "--quiet");
    expect(plain.git("stash", "list")).toBe("");
  });
});

describe("what a name means", () => {
  test.each([
    "MERGE feature",
    "REBASE feature~0",
    "RESET --soft feature",
    "CHECKOUT --detach feature",
    "CHECKOUT -b new feature",
    "TAG new feature",
  ])("%s: a branch and a tag of one name are told apart by whole names", async (call) => {
    const { kernel, plain, shown } = await place();
    plain.git("checkout", "--quiet", "-b", "work");
    plain.git("tag", "feature", "evil");
    const words = call.split(" ");
    const before = plain.git("rev-parse", "work");
    const refused = JSON.stringify((await atOnce(kernel, words)).outcome);
    expect(refused).toContain("is the name of a tag and of a branch");
    expect(refused).toContain("refs/heads/feature");
    expect(plain.git("rev-parse", "work")).toBe(before);
    const whole = words.map((word) => word.replace(/^feature/, "refs/heads/feature"));
    expect((await atOnce(kernel, whole)).outcome.kind).toBe("success");
    expect(plain.git("rev-parse", words.includes("new") ? "new" : "HEAD").trim()).toBe(shown);
  });

  /** The call, with the approval that some need. */
  async function atOnce(kernel: MemoryKernel, call: readonly string[]) {
    const asked = ask(kernel, call);
    const done = await Promise.race([asked, pending(kernel)]);
    if (!("ref" in done)) return done;
    await approve(kernel, done.ref);
    return asked;
  }

  test("earlier commits and branches, and what a branch follows, are found as git finds them", async () => {
    const { kernel, plain, shown } = await place();
    plain.git("checkout", "--quiet", "-b", "work", "feature");
    const later = plain.commit("later", { "d.txt": "d\n" });
    plain.git("branch", "--quiet", "--set-upstream-to=feature");
    for (const [name, commit] of [
      ["@{1}", shown],
      ["work@{1}", shown],
      ["@{u}", shown],
      ["@{-1}", plain.git("rev-parse", "main").trim()],
      ["HEAD~1", shown],
      ["@", later],
    ] as const) {
      expect((await ask(kernel, ["TAG", "t", name])).outcome.kind).toBe("success");
      expect([name, plain.tried("rev-parse", "t").stdout.trim()]).toEqual([name, commit]);
      plain.git("tag", "-d", "t");
    }
    expect((await ask(kernel, ["CHECKOUT", "@{-1}"])).outcome).toMatchObject({ data: { branch: "main" } });
  });

  test("what is staged by the commit itself is committed", async () => {
    const { kernel, plain } = await place();
    plain.git("checkout", "--quiet", "-b", "work");
    plain.put("a.txt", "changed\n");
    expect((await ask(kernel, ["COMMIT", "-a", "-m", "all"])).outcome.kind).toBe("success");
    expect(plain.git("show", "work:a.txt")).toBe("changed\n");
  });
});
