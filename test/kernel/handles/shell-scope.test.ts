// One scope, two ways to ask it: what a command in the sandbox can read and write is what file tools can, over trees,
// zones, leases and policies that are made up. Where they cannot agree, the sandbox is the narrower one; managed
// directories alone are read by commands and not by file tools.
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { systemRandom } from "../../../src/base/ids.ts";
import { Holdings } from "../../../src/kernel/call/holdings.ts";
import { arrive, type Caller, type Granted } from "../../../src/kernel/call/stages.ts";
import { execScope } from "../../../src/kernel/handles/exec-scope.ts";
import { evaluateAccesses } from "../../../src/kernel/judge/decide.ts";
import { judgePlace } from "../../../src/kernel/judge/scope.ts";
import type { Denial } from "../../../src/model/outcome/decision.ts";
import { NO_GATES } from "../../../src/model/people/gates.ts";
import { type Restriction, UNRESTRICTED_SCOPE } from "../../../src/model/people/lease.ts";
import type { WorkspacePath } from "../../../src/model/place/access.ts";
import type { Workspace } from "../../../src/model/place/workspace.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../../src/model/place/zone.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";
import type { PolicyEngine } from "../../../src/policy/policy.ts";
import { createFileAccess, openWorkspaceRoots } from "../../../src/sandbox/files/files.ts";
import { endOf, memoryLocks, unnotedNames } from "../../support/files-fixture.ts";
import { engineOf, operator } from "../../support/policy-fixtures.ts";
import { newSandboxPlace, type SandboxPlace, sandboxUser } from "../../support/sandbox-place.ts";

const TREES = 60;
const PLAIN = ["a", "b", "src", "x.ts", "y.txt"];
const SPECIAL = [
  "secrets",
  ".env",
  ".env.example",
  "AGENTS.md",
  ".github",
  "workflows",
  ".git",
  "node_modules",
  "shared",
  "handrail.yaml",
  "sp ace",
];
const NAMES = [...PLAIN, ...PLAIN, ...PLAIN, ...SPECIAL];
const PERMIT = `@id("all") permit (principal, action, resource);
@id("asks") @ask("obeyed") permit (principal, action, resource is Handrail::File) when { resource.zone == "protected" && context.effect == "write" };`;
const POLICIES = [
  PERMIT,
  `${PERMIT}\n@id("no") @message("m") forbid (principal, action, resource is Handrail::File) when { resource.path like "b/*" };`,
  `${PERMIT}\n@id("no") @message("m") forbid (principal, action, resource is Handrail::File) when { resource.path like "*.txt" };`,
];
const GLOBS: readonly Restriction[] = [
  [],
  [["**"]],
  [["src/**"]],
  [["src/*", "a"]],
  [["**/*.ts"]],
  [["a/**", "b/**", "x.ts"]],
  [["**"], ["b/**", "y.txt"]],
];
const SECRETS = [[], ["src/a"], ["b/*/x.ts"], ["a/src/**"]];
const READ_ONLY = [[], ["src/b"], ["a/*.txt"]];
const RESTRICTED = [[], ["b"], ["src/*.ts"]];

interface Case {
  /** Paths of files, or of links with where they lead. */
  readonly tree: readonly { readonly path: readonly string[]; readonly link?: readonly string[] }[];
  readonly reads: Restriction;
  readonly writes: Restriction;
  readonly policy: number;
  readonly secret: readonly string[];
  readonly readOnly: readonly string[];
  readonly restricted: readonly string[];
  /** Asked about besides what is there. */
  readonly more: readonly (readonly string[])[];
}

const somePath = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 });
const someCase: fc.Arbitrary<Case> = fc.record({
  tree: fc.array(fc.record({ path: somePath, link: somePath }, { requiredKeys: ["path"] }), {
    minLength: 10,
    maxLength: 36,
  }),
  reads: fc.constantFrom(...GLOBS),
  writes: fc.constantFrom(...GLOBS),
  policy: fc.constantFrom(0, 1, 2),
  secret: fc.constantFrom(...SECRETS),
  readOnly: fc.constantFrom(...READ_ONLY),
  restricted: fc.constantFrom(...RESTRICTED),
  more: fc.array(somePath, { maxLength: 12 }),
});

const files = [
  "a/x.ts",
  "a/y.txt",
  "b/x.ts",
  "src/a/x.ts",
  "src/b/y.txt",
  "x.ts",
  ".env",
  "secrets/x.ts",
  "AGENTS.md",
  "handrail.yaml",
  "shared/x.ts",
];
/** There is something of everything in it. */
const PLAIN_CASE: Case = {
  tree: [
    ...files.map((path) => ({ path: path.split("/") })),
    { path: ["a", "b"], link: ["secrets"] },
    { path: ["y.txt"], link: ["x.ts"] },
  ],
  reads: [],
  writes: [["a/**", "b/**", "*"]],
  policy: 0,
  secret: ["src/a"],
  readOnly: [],
  restricted: ["b"],
  more: [
    ["a", "src"],
    ["b", "src"],
    ["src", "b", "a"],
    ["secrets", "a"],
  ],
};

let place: SandboxPlace;
let engines: readonly PolicyEngine[];
beforeAll(async () => {
  place = newSandboxPlace();
  engines = await Promise.all(POLICIES.map((text) => engineOf([operator(text)])));
});
afterAll(() => place.close());

const TOOL = {
  name: "everywhere",
  capability: { effect: "exec", risk: "low", approval: { level: "auto" } },
} as unknown as Tool;

function grow(root: string, tree: Case["tree"]): void {
  for (const { path, link } of tree) {
    const at = join(root, ...path);
    try {
      mkdirSync(dirname(at), { recursive: true });
      if (link === undefined) writeFileSync(at, "text", { flag: "wx" });
      else symlinkSync(relative(dirname(at), join(root, ...link)), at);
    } catch {
      // something else is in the way; the tree is what came of it
    }
  }
  const user = sandboxUser();
  if (process.geteuid?.() !== 0) return;
  for (const name of [".", ...everything(root)]) {
    if (!lstatSync(join(root, name)).isSymbolicLink()) chownSync(join(root, name), user, user);
  }
}

/** All paths below `root`; links are not followed. */
function everything(root: string, directory = ""): readonly string[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? [path, ...everything(root, path)] : [path];
  });
}

/** What is asked about: everything that is there, and names that are not. */
function asked(root: string, more: Case["more"]): readonly string[] {
  const is = (path: string, kind: "isFile" | "isDirectory"): boolean =>
    existsSync(join(root, path)) && statSync(join(root, path))[kind]();
  const all = everything(root);
  const overLinks = all
    .filter((path) => lstatSync(join(root, path)).isSymbolicLink() && is(path, "isDirectory"))
    .flatMap((path) => readdirSync(join(root, path)).map((name) => `${path}/${name}`));
  const there = [...all, ...overLinks].filter((path) => is(path, "isFile"));
  const missing = more
    .map((path) => path.join("/"))
    .filter((path) => !isLinkOrThere(join(root, path)) && is(dirname(path), "isDirectory"));
  return [...new Set([...there, ...missing])].sort();
}

function isLinkOrThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** What can be done with each path. */
type Reached = { readonly [path: string]: { readonly read: boolean; readonly write: boolean } };

async function byShell(root: string, paths: readonly string[], granted: Granted): Promise<Reached> {
  const script =
    'for path; do r=-; w=-; [ -f "$path" ] && head -c 1 -- "$path" >/dev/null 2>&1 && r=r; { printf x >>"$path"; } 2>/dev/null && w=w; printf "%s%s\\n" $r $w; done';
  const judge = execScope(granted, { hides: () => false }, { hasReached: () => false, isLost: () => false });
  const { stdout, end } = await place.run(["bash", "-c", script, "bash", ...paths], { root, judge });
  const lines = stdout.split("\n");
  const aside = (end.landed?.notKept ?? []).map(({ path }) => path);
  const isAside = (path: string) => {
    const real = relative(root, join(realpathSync(dirname(join(root, path))), path.split("/").at(-1) ?? ""));
    return aside.some((each) => real === each || real.startsWith(`${each}/`));
  };
  const reached = Object.fromEntries(
    paths.map((path, index) => [
      path,
      { read: lines[index]?.[0] === "r", write: lines[index]?.[1] === "w" && !isAside(path) },
    ]),
  );
  return reached;
}

async function byTools(
  workspace: Workspace,
  paths: readonly string[],
  caller: Caller,
  policy: PolicyEngine,
): Promise<Reached> {
  const judge = (target: WorkspacePath, effect: "read" | "write"): Denial | undefined => {
    const zone = workspace.zones.classify(target);
    const denial = judgePlace(caller, { tool: TOOL, place: target, zone, effect });
    if (denial) return denial;
    const decided = evaluateAccesses({ policy, caller, tool: TOOL, nowMs: 0 }, [
      { resource: { kind: "file", path: target.path }, effect, target: { place: target, zone } },
    ]);
    if (!decided.ok) return decided.denial;
    const asks = decided.value.obligations.length > 0;
    return asks
      ? { layer: "approval", reason: "tool_approval_required", ruleId: "ASK", message: "it asks" }
      : undefined;
  };
  const roots = openWorkspaceRoots(workspace);
  const files = createFileAccess({
    workspace,
    roots,
    judge: (target, effect) => judge(target, effect === "read" ? "read" : "write"),
    visible: () => true,
    locks: memoryLocks(),
    lockOwner: "test",
    newFiles: unnotedNames,
    clock: systemClock,
    random: systemRandom,
    signal: new AbortController().signal,
    onLockBroken: () => undefined,
    recheck: async () => undefined,
  });
  const reached: [string, { read: boolean; write: boolean }][] = [];
  for (const path of paths) {
    // the kernel judges what was named before it is opened, and what was opened where that is another
    const target: WorkspacePath = { root: "service", path: realOf(workspace.serviceRoot, path) };
    const read =
      judge(target, "read") === undefined && (await endOf(() => files.read(target.path, { bytesMax: 100 }))) === "ok";
    const write =
      judge(target, "write") === undefined &&
      (await endOf(() => files.write(target.path, Buffer.from("x"), { mode: "append" }))) === "ok";
    reached.push([path, { read, write }]);
  }
  roots.close();
  return Object.fromEntries(reached);
}

let rounds = 0;
const seen = { read: 0, written: 0, refused: 0 };

async function agree(one: Case): Promise<void> {
  rounds += 1;
  const root = join(place.base, `tree-${rounds}`);
  mkdirSync(root);
  try {
    grow(root, one.tree);
    const zones = compileZones(
      {
        ...BUILT_IN_ZONE_RULES,
        secret: [...BUILT_IN_ZONE_RULES.secret, ...one.secret],
        readOnly: one.readOnly,
        restrictedReadOnly: one.restricted,
      },
      "",
    );
    const workspace: Workspace = { serviceRoot: root, projectRoot: root, sharedPaths: [], zones };
    const scope = { ...UNRESTRICTED_SCOPE, readPaths: one.reads, writePaths: one.writes };
    const caller = {
      armed: false,
      gates: NO_GATES,
      session: {
        id: "ses",
        userId: "ada",
        agentId: "agent",
        role: "dev",
        serviceRoot: root,
        projectRoot: root,
        mode: "default",
      },
      lease: { id: "lease", scope, budget: {}, createdAtMs: 0, expiresAtMs: 1e15 },
      place: { workspace, disabledTools: new Set() },
      mark: { trustLevel: "user", dataClass: "internal" },
    } as unknown as Caller;
    const policy = engines[one.policy] as PolicyEngine;
    const known = {
      ...arrive(systemClock),
      caller,
      tool: TOOL,
      policy,
      accesses: [],
      call: { arguments: {} },
      holdings: new Holdings(),
    };
    const before = new Set(everything(root));
    const paths = asked(root, one.more).slice(0, 40);
    const shell = await byShell(root, paths, known as unknown as Granted);
    for (const name of everything(root)) if (!before.has(name)) rmSync(join(root, name), { force: true });
    const tools = await byTools(workspace, paths, caller, policy);
    const isManaged = (path: string): boolean =>
      path !== "." && (zones.classify({ root: "service", path }) === "managed" || isManaged(dirname(path)));
    for (const path of paths) compare(root, path, isManaged(realOf(root, path)), before, shell, tools);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Where a path leads, from the root. */
function realOf(root: string, path: string): string {
  const at = join(root, path);
  return relative(
    root,
    existsSync(at) ? realpathSync(at) : join(realpathSync(dirname(at)), path.split("/").at(-1) ?? ""),
  );
}

function compare(
  root: string,
  path: string,
  isManaged: boolean,
  before: ReadonlySet<string>,
  shell: Reached,
  tools: Reached,
): void {
  const [bySandbox, byTool] = [shell[path], tools[path]];
  const real = realOf(root, path);
  const isThere = before.has(path) || before.has(real);
  if (isManaged) {
    // one thing, read as a whole
    expect({ path, write: bySandbox?.write, ...(path === real && { read: bySandbox?.read }) }).toEqual({
      path,
      write: false,
      ...(path === real && { read: isThere }),
    });
    return;
  }
  const isNarrower = (ours: boolean | undefined, theirs: boolean | undefined): boolean =>
    theirs === true || ours === false;
  expect({
    path,
    real,
    read: isNarrower(bySandbox?.read, byTool?.read),
    write: isNarrower(bySandbox?.write, byTool?.write),
  }).toEqual({
    path,
    real,
    read: true,
    write: true,
  });
  // a way over a link through what is hidden is none for a command
  if (isThere && path === real)
    expect({ path, ...bySandbox }).toEqual({ path, read: byTool?.read, write: byTool?.read === true && byTool.write });
  if (bySandbox?.read) seen.read += 1;
  if (bySandbox?.write) seen.written += 1;
  else seen.refused += 1;
}

test("commands and file tools reach the same", async () => {
  await fc.assert(fc.asyncProperty(someCase, agree), { numRuns: TREES, endOnFailure: true, examples: [[PLAIN_CASE]] });
  // the trees were worth asking about
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(3);
});
