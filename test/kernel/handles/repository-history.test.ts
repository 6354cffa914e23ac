// What is found of a repository's history as it grows and shrinks, beside what looking through all of it finds.
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import type { Caller } from "../../../src/kernel/call/stages.ts";
import { RepositoryHistories } from "../../../src/kernel/handles/repository-history.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../../src/model/place/zone.ts";
import { DEFAULT_GIT_RULES } from "../../../src/model/work/git.ts";
import { openWorkspaceRoots } from "../../../src/sandbox/files/files.ts";
import { lookAtRepository } from "../../../src/sandbox/git/repository.ts";
import { newRepository, type PlainGit, plainGit } from "../../support/git-place.ts";
import { LIMITS, newSandboxPlace, type SandboxPlace } from "../../support/sandbox-place.ts";
import { searching } from "../../support/thorough.ts";

/** What one look found, and how often git was asked, about everything or about some objects. */
interface Look {
  readonly isHidden: boolean;
  readonly whole: number;
  /** Objects and packs that git was told to look through, of each time. */
  readonly some: readonly (readonly string[])[];
}

interface Repository {
  readonly plain: PlainGit;
  /** With what earlier looks found in mind. */
  readonly look: () => Promise<Look>;
  /** Of one that has never looked. */
  readonly lookAnew: () => Promise<Look>;
  /** Another repository to fetch from. */
  readonly other: PlainGit;
}

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(() => place.close());

let made = 0;

function repository(): Repository {
  made += 1;
  const root = join(place.root, `r${made}`);
  const plain = newRepository(root);
  const other = newRepository(join(place.base, `other${made}`));
  other.commit("elsewhere", { "far.txt": "far" });
  plain.git("remote", "add", "other", other.directory);
  const opened = (): Caller["place"] => {
    const workspace = {
      serviceRoot: root,
      projectRoot: root,
      sharedPaths: [],
      zones: compileZones(BUILT_IN_ZONE_RULES, ""),
    };
    const roots = openWorkspaceRoots(workspace);
    onTestFinished(() => roots.close());
    return {
      workspace,
      roots,
      repository: (directory: string) => lookAtRepository({ workspace, roots }, directory, DEFAULT_GIT_RULES),
    } as unknown as Caller["place"];
  };
  const remembering = opened();
  const look = async (at: Caller["place"]): Promise<Look> => {
    let whole = 0;
    const some: (readonly string[])[] = [];
    const sandbox: Pick<SandboxPlace["sandbox"], "run"> = {
      run(run, output, signal) {
        const named = run.command.slice(run.command.indexOf("history") + 1);
        if (run.command.includes("history"))
          some.push(named.flatMap((names) => names.split(/\s/)).filter((name) => name !== ""));
        else whole += 1;
        return place.sandbox.run(run, output, signal);
      },
    };
    const histories = new RepositoryHistories({ place: at }, Date.now());
    histories.hides(".git");
    await histories.settle(sandbox, LIMITS, new AbortController().signal);
    return { isHidden: histories.hidden().length > 0, whole, some };
  };
  return { plain, other, look: () => look(remembering), lookAnew: () => look(opened()) };
}

const SECRET = { "secrets/k": "hidden" };
let counted = 0;
/** Files that no earlier commit has like this. */
const fresh = (name = `f${(counted % 7) + 1}.txt`): Readonly<Record<string, string>> => {
  counted += 1;
  return { [name]: `text ${counted}`, [`d/${counted}.txt`]: "" };
};
/** A commit, where that can be: repositories come to lack something. */
const commit = ({ put, tried }: PlainGit, files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) put(path, text);
  tried("add", "--force", "--", ...Object.keys(files));
  tried("commit", "--quiet", "--no-verify", "-m", "one");
};
/** A commit that nothing leads to. */
const lose = ({ tried, put }: PlainGit, path: string): string => {
  const before = tried("write-tree").stdout.trim();
  put(path, "x");
  tried("add", "--force", "--", path);
  const lost = tried("commit-tree", "-m", `lost ${counted}`, tried("write-tree").stdout.trim()).stdout.trim();
  tried("read-tree", before);
  return lost;
};

/** What happens to repositories; each does nothing where it cannot. */
const STEPS: Readonly<Record<string, (at: Repository) => void>> = {
  commit: ({ plain }) => commit(plain, fresh()),
  "commit a secret": ({ plain }) => commit(plain, SECRET),
  "remove the secret": ({ plain }) => {
    plain.tried("rm", "--quiet", "--cached", "-r", "--ignore-unmatch", "secrets");
    commit(plain, fresh());
  },
  stage: ({ plain }) => {
    plain.put(".env", "staged");
    plain.tried("add", "--force", ".env");
  },
  unstage: ({ plain }) => void plain.tried("rm", "--quiet", "--cached", "--ignore-unmatch", ".env"),
  "move a branch back": ({ plain }) => void plain.tried("reset", "--quiet", "--hard", "HEAD~1"),
  "move a branch elsewhere": ({ plain }) =>
    void plain.tried("update-ref", "refs/heads/moved", lose(plain, "moved.txt")),
  "begin another branch": ({ plain }) => {
    counted += 1;
    plain.tried("checkout", "--quiet", "--orphan", `o${counted}`);
  },
  merge: ({ plain }) => {
    const { code } = plain.tried(
      "merge",
      "--quiet",
      "--allow-unrelated-histories",
      "-m",
      "merge",
      "-X",
      "ours",
      "moved",
    );
    if (code !== 0) plain.tried("merge", "--abort");
  },
  "lose a commit": ({ plain }) => void lose(plain, "lost.txt"),
  "lose a secret commit": ({ plain }) => void lose(plain, ".env.local"),
  tag: ({ plain }) => void plain.tried("tag", "--force", "-m", "tag", "t"),
  collect({ plain }) {
    plain.tried("reflog", "expire", "--expire=now", "--all");
    plain.tried("gc", "--quiet", "--prune=now");
  },
  "pack all": ({ plain }) => void plain.tried("repack", "-adq"),
  "pack what is loose": ({ plain }) => void plain.tried("repack", "-q"),
  "fetch loose objects": ({ plain, other }) => {
    commit(other, fresh("far.txt"));
    plain.tried("fetch", "--quiet", "other");
  },
  "fetch a pack": ({ plain, other }) => {
    commit(other, fresh("far.txt"));
    plain.tried("-c", "fetch.unpackLimit=1", "fetch", "--quiet", "other");
  },
  "fetch a secret": ({ plain, other }) => {
    commit(other, SECRET);
    other.tried("rm", "--quiet", "-r", "secrets");
    commit(other, fresh("far.txt"));
    plain.tried("-c", "fetch.unpackLimit=1", "fetch", "--quiet", "other");
  },
  "fetch the newest commit alone": ({ plain, other }) =>
    void plain.tried("fetch", "--quiet", "--depth=1", `file://${other.directory}`),
  "fetch what was left out": ({ plain, other }) =>
    void plain.tried("fetch", "--quiet", "--unshallow", `file://${other.directory}`),
  "remove a commit's object": ({ plain }) => {
    const older = plain.tried("rev-parse", "HEAD~1").stdout.trim();
    rmSync(join(plain.directory, ".git/objects", older.slice(0, 2), older.slice(2)), { force: true });
  },
  "make it anew": ({ plain, other }) => {
    rmSync(join(plain.directory, ".git"), { recursive: true });
    newRepository(plain.directory).tried("remote", "add", "other", other.directory);
  },
  nothing: () => undefined,
};

/** Such as leave histories without a secret for a while, so that something is remembered when one comes. */
const WEIGHTS: Readonly<Record<string, number>> = {
  ...{
    commit: 20,
    "lose a commit": 6,
    "move a branch back": 6,
    "move a branch elsewhere": 6,
    merge: 6,
    tag: 4,
    "make it anew": 16,
  },
  ...{ "fetch loose objects": 8, "fetch a pack": 8, "pack what is loose": 8, "pack all": 4, collect: 4, stage: 3 },
  ...{ "commit a secret": 4, "lose a secret commit": 4, "fetch a secret": 4, "remove a commit's object": 6 },
};
const step = fc.oneof(
  ...Object.keys(STEPS).map((name) => ({ arbitrary: fc.constant(name), weight: WEIGHTS[name] ?? 1 })),
);

/** Each step is looked at twice, in sandboxes. */
const RUNS = searching({ shortly: 5, thoroughly: 20 });

test("what is remembered of a history and what came since is all of it, whatever happens to a repository", async () => {
  const counts = { hidden: 0, seen: 0, some: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 12 }), async (names) => {
      const at = repository();
      for (const [index, name] of names.entries()) {
        STEPS[name]?.(at);
        const remembered = await at.look();
        const done = names.slice(0, index + 1);
        expect([done, remembered.isHidden]).toEqual([done, (await at.lookAnew()).isHidden]);
        counts.some += remembered.some.length;
        counts[remembered.isHidden ? "hidden" : "seen"] += 1;
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  // both answers came, and many without looking through everything
  expect([counts.hidden > RUNS, counts.seen > 3 * RUNS, counts.some > RUNS]).toEqual([true, true, true]);
});

test("git is asked about what was added alone, and about everything once something was taken away", async () => {
  const at = repository();
  const { plain, other } = at;
  const objects = () => plain.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").trim().split("\n");
  for (let index = 0; index < 5; index += 1) commit(plain, fresh());
  expect(await at.look()).toEqual({ isHidden: false, whole: 1, some: [] });
  const before = new Set(objects());
  commit(plain, fresh());
  const added = objects().filter((name) => !before.has(name));
  const { some, ...rest } = await at.look();
  expect([rest, some.map((names) => names.toSorted())]).toEqual([{ isHidden: false, whole: 0 }, [added.toSorted()]]);
  await settled();
  expect(await at.look()).toMatchObject({ whole: 0 });
  // nothing is asked where nothing was changed
  expect(await at.look()).toEqual({ isHidden: false, whole: 0, some: [] });
  plain.git("-c", "fetch.unpackLimit=1", "fetch", "--quiet", "other");
  const packed = await at.look();
  expect(packed).toMatchObject({
    isHidden: false,
    whole: 0,
    some: [[expect.stringMatching(/^pack-[0-9a-f]{40}\.idx$/)]],
  });
  plain.git("gc", "--quiet", "--prune=now");
  await settled();
  expect(await at.look()).toMatchObject({ isHidden: false, whole: 1 });
  commit(other, SECRET);
  plain.git("fetch", "--quiet", "other");
  expect(await at.look()).toMatchObject({ isHidden: true, whole: 0 });
  // what holds a secret goes on to hold it, whatever is added
  commit(plain, fresh());
  expect(await at.look()).toEqual({ isHidden: true, whole: 0, some: [] });
  plain.git("update-ref", "-d", "refs/remotes/other/main");
  plain.git("reflog", "expire", "--expire=now", "--all");
  plain.git("gc", "--quiet", "--prune=now");
  rmSync(join(plain.directory, ".git/FETCH_HEAD"));
  plain.git("gc", "--quiet", "--prune=now");
  expect(await at.look()).toMatchObject({ isHidden: false, whole: 1 });
});

test("what is staged is looked at without a new object, and a commit that is missing is missed without one", async () => {
  const at = repository();
  const { plain } = at;
  for (let index = 0; index < 3; index += 1) commit(plain, { "a.txt": `a ${index}` });
  expect(await at.look()).toMatchObject({ isHidden: false });
  await settled();
  expect(await at.look()).toMatchObject({ isHidden: false });
  plain.put(".env", "a 1");
  plain.git("add", "--force", ".env");
  expect(await at.look()).toEqual({ isHidden: true, whole: 0, some: [[]] });
  plain.git("rm", "--quiet", "--cached", ".env");
  expect(await at.look()).toMatchObject({ isHidden: false });
  await settled();
  plain.git("worktree", "add", "--quiet", "--detach", join(place.base, "linked"));
  expect(await at.look()).toMatchObject({ isHidden: false });
  await settled();
  const linked = plainGit(join(place.base, "linked"));
  linked.put(".env", "a 1");
  linked.git("add", "--force", ".env");
  expect(await at.look()).toEqual({ isHidden: true, whole: 0, some: [[]] });
  linked.git("rm", "--quiet", "--cached", ".env");
  expect(await at.look()).toMatchObject({ isHidden: false });
  await settled();
  expect(await at.look()).toMatchObject({ isHidden: false });
  STEPS["remove a commit's object"]?.(at);
  expect(await at.look()).toMatchObject({ isHidden: true, whole: 1 });
});

/** So long ago that no clock's tick could hide a change. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}
