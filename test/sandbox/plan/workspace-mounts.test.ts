// The scope of a call as mounts: what is hidden, read and written, in trees that are written down as objects.
import fc from "fast-check";
import { expect, test } from "vitest";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import type { SandboxMount } from "../../../src/sandbox/plan/plan.ts";
import {
  atOnce,
  type Reach,
  SANDBOX_ENTRIES_MAX,
  SANDBOX_MOUNTS_MAX,
  type ScopeJudge,
  type Tree,
  type TreeEntry,
  WorkspaceLook,
} from "../../../src/sandbox/plan/workspace-mounts.ts";

/**
 * A directory is an object, a file its contents, a link `-> where`; `!` is a socket, `null` a directory that nobody may
 * list. A name with `\u{fffe}` stands for one that is not UTF-8.
 */
type Node = string | null | { readonly [name: string]: Node };

/** A listing that is there at once. */
// biome-ignore lint/correctness/useYield: it takes no time
function* listed(entries: readonly TreeEntry[] | undefined): Generator<void, readonly TreeEntry[] | undefined> {
  return entries;
}

function treeOf(root: Node): Tree {
  const at = (path: string): Node | undefined =>
    path === "."
      ? root
      : path
          .split("/")
          .reduce<Node | undefined>((node, name) => (node as Record<string, Node> | undefined)?.[name], root);
  const kindOf = (node: Node): TreeEntry["kind"] =>
    typeof node !== "string" ? "directory" : node === "!" ? "other" : node.startsWith("-> ") ? "link" : "file";
  return {
    list(path) {
      const node = at(path);
      const entries = Object.entries(node ?? {}).map(([name, child]) => ({
        name,
        kind: kindOf(child as Node),
        isText: !name.includes("\u{fffe}"),
      }));
      return listed(node === null ? undefined : entries);
    },
    stamp: () => undefined,
  };
}

function workspaceMounts(source: string, tree: Tree, judge: ScopeJudge): readonly SandboxMount[] {
  const look = new WorkspaceLook(source, tree, judge);
  atOnce(look.steps());
  return atOnce(look.result());
}

/** Rules by path, the last that names the path or a directory above it holds; what is new is judged as a path too. */
function judgeOf(rules: Readonly<Record<string, Reach>>, whole: readonly string[] = []): ScopeJudge {
  const reach = (path: string): Reach =>
    Object.entries(rules).reduce<Reach>(
      (held, [rule, then]) => (rule === "." || path === rule || path.startsWith(`${rule}/`) ? then : held),
      "write",
    );
  return {
    entry: reach,
    below: (directory) => (reach(directory === "." ? "new" : `${directory}/new`) === "write" ? "write" : "read"),
    isWhole: (directory) => whole.includes(directory),
  };
}

/** Mounts in short: what is done and where below the workspace. */
function short(mounts: readonly SandboxMount[]): readonly string[] {
  const names = {
    writable: "write",
    read_only: "read",
    hide_directory: "hide",
    hide_file: "hide file",
    empty_directory: "empty",
    link: "link",
  };
  return mounts.map(({ kind, target }) => `${names[kind]} ${target.slice("/workspace/".length) || "."}`);
}

function mountsOf(tree: Node, judge: ScopeJudge): readonly string[] {
  return short(workspaceMounts("/w", treeOf(tree), judge));
}

test("a workspace that may be written as a whole is one mount", () => {
  expect(workspaceMounts("/w", treeOf({ a: "1", b: { c: "2" } }), judgeOf({}))).toEqual([
    { kind: "writable", source: "/w", target: "/workspace" },
  ]);
  expect(mountsOf({}, judgeOf({ ".": "read" }))).toEqual(["read ."]);
});

test("what is hidden, read and written lies in each other as deep as rules go", () => {
  const tree = { a: { b: { c: { d: { file: "" } } } }, other: "" };
  const judge = judgeOf({ ".": "read", a: "write", "a/b": "read", "a/b/c": "write", "a/b/c/d": "hidden" });
  expect(mountsOf(tree, judge)).toEqual(["read .", "write a", "read a/b", "write a/b/c", "hide a/b/c/d"]);
});

test("single files are hidden, protected and opened", () => {
  const tree = { ".env": "secret", "AGENTS.md": "obeyed", src: { "main.ts": "" } };
  expect(mountsOf(tree, judgeOf({ ".env": "hidden", "AGENTS.md": "read" }))).toEqual([
    "write .",
    "hide file .env",
    "read AGENTS.md",
  ]);
  expect(mountsOf(tree, judgeOf({ ".": "read", "src/main.ts": "write" }))).toEqual([
    "read .",
    "read src",
    "write src/main.ts",
  ]);
});

test("directories above what is special are mounts of their own, so that none can be renamed", () => {
  const tree = { a: { b: { "key.pem": "", x: "" }, c: { y: "" } }, d: { e: "" } };
  expect(mountsOf(tree, judgeOf({ "a/b/key.pem": "hidden" }))).toEqual([
    "write .",
    "write a",
    "write a/b",
    "hide file a/b/key.pem",
  ]);
  expect(mountsOf({ ".github": { workflows: { "ci.yml": "" } } }, judgeOf({ ".github/workflows": "read" }))).toEqual([
    "write .",
    "write .github",
    "read .github/workflows",
  ]);
});

test("sockets and other special files are hidden, also where nothing else is looked at", () => {
  const tree = { "host.sock": "!", ".git": { "daemon.ipc": "!", objects: { "inner.sock": "!" } } };
  expect(mountsOf(tree, judgeOf({ ".git": "read" }, [".git"]))).toEqual([
    "write .",
    "hide file host.sock",
    "read .git",
    "hide file .git/daemon.ipc",
  ]);
});

test("a directory that cannot be listed is hidden: its owner could open it again", () => {
  expect(mountsOf({ locked: null, a: "" }, judgeOf({}))).toEqual(["write .", "hide locked"]);
  expect(codeOf(() => mountsOf(null, judgeOf({})))).toBe("SANDBOX_UNAVAILABLE");
});

test("links get no mount: where they lead has its own", () => {
  const judge = judgeOf({ "CLAUDE.md": "read", ".env": "hidden" });
  expect(mountsOf({ "CLAUDE.md": "-> AGENTS.md", ".env": "-> ../env" }, judge)).toEqual(["write ."]);
});

test("too many mounts refuse the command, one less does not", () => {
  const files = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, ""]));
  const judge: ScopeJudge = {
    entry: (_, isDirectory) => (isDirectory ? "write" : "hidden"),
    below: () => "write",
    isWhole: () => false,
  };
  expect(workspaceMounts("/w", treeOf(files(SANDBOX_MOUNTS_MAX - 1)), judge)).toHaveLength(SANDBOX_MOUNTS_MAX);
  expect(codeOf(() => workspaceMounts("/w", treeOf(files(SANDBOX_MOUNTS_MAX)), judge))).toBe("SANDBOX_UNAVAILABLE");
});

test("too large a tree refuses the command", () => {
  const endless: Tree = {
    list(path) {
      const entry = { name: "x", kind: "file" as const };
      return listed(path === "." ? Array.from({ length: SANDBOX_ENTRIES_MAX + 1 }, () => entry) : []);
    },
    stamp: () => undefined,
  };
  expect(codeOf(() => workspaceMounts("/w", endless, judgeOf({})))).toBe("SANDBOX_UNAVAILABLE");
});

test("a tree that is deeper than calls can be nested has mounts like any other", () => {
  const levels = 20_000;
  const deep: Tree = {
    list: (path) => listed(path.length < 2 * levels ? [{ name: "d", kind: "directory" as const }] : []),
    stamp: () => undefined,
  };
  expect(workspaceMounts("/w", deep, judgeOf({}))).toEqual([{ kind: "writable", source: "/w", target: "/workspace" }]);
});

test("a name that is not UTF-8 is no matter for a plain file, and refuses where a mount or a look inside is needed", () => {
  expect(mountsOf({ "\u{fffe}.txt": "" }, judgeOf({}))).toEqual(["write ."]);
  expect(codeOf(() => mountsOf({ ".env\u{fffe}": "" }, judgeOf({ ".env\u{fffe}": "hidden" })))).toBe(
    "SANDBOX_UNAVAILABLE",
  );
  expect(codeOf(() => mountsOf({ "\u{fffe}": {} }, judgeOf({})))).toBe("SANDBOX_UNAVAILABLE");
  expect(mountsOf({ "\u{fffd}": { a: "" } }, judgeOf({ "\u{fffd}/a": "read" }))).toEqual([
    "write .",
    "write \u{fffd}",
    "read \u{fffd}/a",
  ]);
});

/** A tree that changes, with a number for each state of each of its directories. */
type Changing = { [name: string]: Changing | string };

class ChangingTree implements Tree {
  readonly root: Changing = {};
  readonly #stamps = new WeakMap<object, number>();
  #changes = 0;

  changed(directory: Changing): void {
    this.#changes += 1;
    this.#stamps.set(directory, this.#changes);
  }

  #at(path: string): Changing | string | undefined {
    const parts = path === "." ? [] : path.split("/");
    return parts.reduce<Changing | string | undefined>(
      (node, name) => (typeof node === "object" ? node[name] : undefined),
      this.root,
    );
  }

  readonly list = (path: string) => listed(this.#list(path));

  #list(path: string): readonly TreeEntry[] {
    const node = this.#at(path);
    if (typeof node !== "object") return [];
    const kindOf = (child: Changing | string) =>
      typeof child === "object" ? "directory" : child.startsWith("-> ") ? "link" : "file";
    return Object.entries(node).map(([name, child]) => ({ name, kind: kindOf(child) }));
  }

  stamp = (path: string): string | undefined => {
    const node = this.#at(path);
    return typeof node === "object" ? String(this.#stamps.get(node) ?? 0) : undefined;
  };
}

const NAMES = ["a", "b", ".env", "AGENTS.md", "sub", "open"];
const change = fc.record({
  at: fc.array(fc.constantFrom(...NAMES), { maxLength: 3 }),
  name: fc.constantFrom(...NAMES),
  what: fc.constantFrom("file", "link", "directory", "gone", "moved"),
  /** How many steps of the look come before it. */
  after: fc.nat(3),
});

/** Does `what` in the deepest directory on the way `at` that is there. */
function make(tree: ChangingTree, { at, name, what }: { at: readonly string[]; name: string; what: string }): void {
  let directory = tree.root;
  for (const part of at) {
    const next = directory[part];
    if (typeof next !== "object") break;
    directory = next;
  }
  const before = directory[name];
  if (what === "gone") delete directory[name];
  else if (what === "moved" && typeof before === "object" && directory !== tree.root) {
    delete directory[name];
    tree.root[name] = before;
    tree.changed(tree.root);
  } else if (what !== "moved") directory[name] = what === "directory" ? {} : what === "link" ? "-> a" : "text";
  const made = directory[name];
  if (typeof made === "object") tree.changed(made);
  tree.changed(directory);
}

test("a look that others change the tree under comes to what one comes to at once, at its end", () => {
  const judge = judgeOf(
    {
      ".env": "hidden",
      "sub/.env": "hidden",
      "AGENTS.md": "read",
      "a/AGENTS.md": "read",
      sub: "read",
      "sub/open": "write",
    },
    ["b/b"],
  );
  const sorted = (mounts: readonly SandboxMount[]) => short(mounts).toSorted();
  let different = 0;
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 10, maxLength: 40 }),
      fc.array(change, { maxLength: 12 }),
      fc.array(change, { maxLength: 6 }),
      (before, during, late) => {
        const tree = new ChangingTree();
        for (const each of before) make(tree, each);
        const look = new WorkspaceLook("/w", tree, judge);
        const steps = look.steps();
        for (const each of during) {
          for (let step = 0; step < each.after; step += 1) steps.next();
          make(tree, each);
        }
        atOnce(steps);
        const now = sorted(workspaceMounts("/w", tree, judge));
        if (JSON.stringify(sorted(atOnce(look.result()))) !== JSON.stringify(now)) different += 1;
        // changes that come during a renewal are met by the next one
        const renewal = look.renewal();
        for (const each of late) {
          for (let step = 0; step < each.after; step += 1) renewal.next();
          make(tree, each);
        }
        atOnce(renewal);
        while (atOnce(look.renewal()));
        expect(sorted(atOnce(look.result()))).toEqual(sorted(workspaceMounts("/w", tree, judge)));
      },
    ),
    { numRuns: 500 },
  );
  // without looking again many would have come to something else
  expect(different).toBeGreaterThan(50);
});

function codeOf(action: () => unknown): string {
  try {
    action();
    return "ok";
  } catch (error) {
    if (error instanceof ToolFailure) return error.code;
    throw error;
  }
}
