/**
 * Zones of a workspace: which kind of place a path is. One compiled `ZoneMap` serves the kernel's check, the opened
 * descriptor's check, listings and searches, so that they cannot disagree.
 *
 * Secret zones are judged without regard to case (`.ENV` is as secret as `.env`), templates of secrets are not secret.
 * `.env*` takes `.envrc` in: it is refused rather than asked about. Only the built-in patterns have templates: what the
 * operator or the workspace calls secret is secret by any name.
 *
 * A zone is what policies speak of, and an operator's permit may name any. So what a workspace says of itself does not
 * move its files into another zone, where a permit might be waiting for them: it is a restriction beside the zone.
 * INVARIANT: secret beats managed beats shared beats protected beats own; a restriction never allows anything.
 */
import { KernelError } from "../base/errors.ts";
import { GLOB_LIST_CHARACTERS_MAX } from "../base/limits.ts";
import type { WorkspacePath } from "./access.ts";
import { type CompiledGlob, compileMeasuredGlob, foldCase, type GlobTest } from "./glob.ts";

/** `own`: read and write. `protected`: writing asks. `shared`: read only. `managed`, `secret`: refused by file tools. */
export type Zone = "own" | "protected" | "shared" | "managed" | "secret";

/** What a workspace's own, untrusted rules ask for beside the zone: that writing is refused, or that it asks. */
export type Restriction = "read_only" | "protected";

/** Patterns of a workspace, as configuration and the built-in rules give them. A pattern without `/` matches at any depth. */
export interface ZoneRules {
  readonly secret: readonly string[];
  /** Names that `secret` takes in and that hold no secret. */
  readonly secretTemplates: readonly string[];
  /** Secret by the operator's or the workspace's own rule: no template is excused from it. */
  readonly ownSecret: readonly string[];
  /** Paths from the project root, taken literally, that are secret with all below: directories of Handrail itself. */
  readonly hidden: readonly string[];
  readonly managed: readonly string[];
  /** Directories relative to the project root. */
  readonly shared: readonly string[];
  readonly protected: readonly string[];
  /** Paths that are read only in this workspace, by the operator's rule or one that the operator trusts. */
  readonly readOnly: readonly string[];
  /** Paths that the workspace itself wants not to be written, without the operator's trust: no zone follows from them. */
  readonly restrictedReadOnly: readonly string[];
  /** The same for writing that should ask. */
  readonly restrictedProtected: readonly string[];
  /** Files that narrow a workspace, at any depth: an agent that could change them could take the narrowing back. */
  readonly settings: readonly string[];
}

/** The built-in rules; configuration adds to them and never takes away. */
export const BUILT_IN_ZONE_RULES: ZoneRules = {
  secret: [".env*", "secrets", ".handrail", ".handrail-aside-*"],
  secretTemplates: [".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults"],
  ownSecret: [],
  hidden: [],
  managed: [".git", "node_modules"],
  shared: ["shared", "contracts", "shared_contracts"],
  protected: [
    ".claude",
    ".mcp.json",
    ".cursor",
    ".codex",
    ".vscode",
    ".husky",
    "AGENTS.md",
    "CLAUDE.md",
    ".github/workflows",
    ".gitlab-ci.yml",
    ".circleci",
    "Jenkinsfile",
    "azure-pipelines.yml",
    ".buildkite",
    ".ci",
  ],
  readOnly: [],
  restrictedReadOnly: [],
  restrictedProtected: [],
  settings: ["handrail.yaml"],
};

/** A compiled set of zone rules. */
export interface ZoneMap {
  /** The zone of `target`; a directory's zone holds for all below it. */
  readonly classify: (target: WorkspacePath) => Zone;
  /** What holds for writing `target` beside its zone. */
  readonly restriction: (target: WorkspacePath) => Restriction | undefined;
}

/** A path whose name is at hand, as it stands and without regard to case. */
interface Named {
  readonly path: string;
  readonly name: string;
  readonly folded: string;
}

/** Which paths the rules name. */
interface Matcher {
  /** Whether a path, or a directory above it, is one of them. */
  readonly anywhere: (path: string) => boolean;
  /** Whether a path is one itself. */
  readonly itself: (named: Named) => boolean;
}

/** What holds for everything in a directory, whatever its name. */
interface Inside {
  readonly root: WorkspacePath["root"];
  readonly directory: string;
  readonly secret: boolean;
  readonly managed: boolean;
  readonly shared: boolean;
  readonly readOnly: boolean;
  readonly protected: boolean;
}

/**
 * Compiles `rules`.
 * @param servicePrefix path of the service root below the project root, `""` when they are the same directory
 */
export function compileZones(rules: ZoneRules, servicePrefix: string): ZoneMap {
  const secret = compileDeep(rules.secret, true);
  const template = compileList(rules.secretTemplates, true, false);
  const ownSecret = compileDeep(rules.ownSecret, true);
  const hidden = compileLiteral(rules.hidden);
  const managed = compileDeep(rules.managed, true);
  const shared = compileList(rules.shared, false, true);
  const protectedFiles = compileDeep(rules.protected, true);
  const readOnly = compileDeep(rules.readOnly, false);
  const settings = compileDeep(rules.settings, true);
  const restrictedReadOnly = compileDeep(rules.restrictedReadOnly, false);
  const restrictedProtected = compileDeep(rules.restrictedProtected, true);
  const fromProject = (root: WorkspacePath["root"], path: string): string =>
    root === "project" || servicePrefix === "" ? path : `${servicePrefix}/${path}`;
  const insideOf = (root: WorkspacePath["root"], directory: string): Inside => {
    const isIn = ({ anywhere }: Matcher, path: string) => path !== "" && anywhere(path);
    const place = directory !== "" ? fromProject(root, directory) : root === "project" ? "" : servicePrefix;
    return {
      root,
      directory,
      secret: isIn(ownSecret, directory) || isIn(secret, directory) || isIn(hidden, place),
      managed: isIn(managed, directory),
      shared: root === "project" || isIn(shared, place),
      readOnly: isIn(readOnly, directory) || isIn(settings, directory),
      protected: isIn(protectedFiles, directory),
    };
  };
  // Listings and searches ask for all files of a directory, one after the other.
  let last = insideOf("service", "");
  return {
    classify({ root, path }) {
      const slash = path.lastIndexOf("/");
      const directory = slash === -1 ? "" : path.slice(0, slash);
      if (last.root !== root || last.directory !== directory) last = insideOf(root, directory);
      const inside = last;
      const name = path.slice(slash + 1);
      const own: Named = { path, name, folded: foldCase(name) };
      if (inside.secret || ownSecret.itself(own)) return "secret";
      // A template is excused as the file that is named, not as a directory with secrets in it.
      if (secret.itself(own) && !template.itself({ ...own, path: name })) return "secret";
      const place = { ...own, path: fromProject(root, path) };
      if (hidden.itself(place)) return "secret";
      if (inside.managed || managed.itself(own)) return "managed";
      if (inside.shared || shared.itself(place)) return "shared";
      if (inside.readOnly || readOnly.itself(own) || settings.itself(own)) return "shared";
      return inside.protected || protectedFiles.itself(own) ? "protected" : "own";
    },
    restriction({ path }) {
      if (restrictedReadOnly.anywhere(path)) return "read_only";
      return restrictedProtected.anywhere(path) ? "protected" : undefined;
    },
  };
}

/**
 * Refuses patterns that no zone can be made of, before they stand among those of others.
 * @throws KernelError CONFIG_INVALID naming the first
 */
export function requireZonePatterns(files: {
  readonly secret: readonly string[];
  readonly read_only: readonly string[];
  readonly protected: readonly string[];
}): void {
  for (const patterns of [files.secret, files.read_only, files.protected]) compileDeep(patterns, true);
}

const NEVER: Matcher = { anywhere: () => false, itself: () => false };

/** Whether the name of the path, or of a directory above it, satisfies `test`. */
function anyName(path: string, test: GlobTest): boolean {
  let from = 0;
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", from)) {
    if (test(path.slice(from, end))) return true;
    from = end + 1;
  }
  return test(from === 0 ? path : path.slice(from));
}

/** Without regard to case, as everything secret. */
function compileLiteral(paths: readonly string[]): Matcher {
  if (paths.length === 0) return NEVER;
  const known = new Set(paths.map(foldCase));
  return { anywhere: (path) => isBelow(foldCase(path), known), itself: ({ path }) => known.has(foldCase(path)) };
}

/** Whether the path, or a directory above it, is one of `known`. */
function isBelow(path: string, known: ReadonlySet<string>): boolean {
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
    if (known.has(path.slice(0, end))) return true;
  }
  return known.has(path);
}

/** Patterns without `/` match at any depth, others from the root. */
function compileDeep(patterns: readonly string[], ignoreCase: boolean): Matcher {
  const trimmed = patterns.map((pattern) => pattern.replace(/\/+$/, ""));
  const names = compileNames(
    trimmed.filter((pattern) => !pattern.includes("/")),
    ignoreCase,
  );
  const paths = compileList(
    trimmed.filter((pattern) => pattern.includes("/")).map((pattern) => pattern.replace(/^\/+/, "")),
    ignoreCase,
    true,
  );
  if (names === NEVER) return paths;
  if (paths === NEVER) return names;
  return {
    anywhere: (path) => names.anywhere(path) || paths.anywhere(path),
    itself: (named) => names.itself(named) || paths.itself(named),
  };
}

/** Patterns of names, whatever directory they are in. */
function compileNames(patterns: readonly string[], ignoreCase: boolean): Matcher {
  const { known, tests } = compilePatterns(patterns, ignoreCase, false);
  if (known.size === 0 && tests.length === 0) return NEVER;
  const isOne = (name: string, looked: string) => known.has(looked) || tests.some((test) => test(name));
  return {
    anywhere: (path) => anyName(path, (name) => isOne(name, ignoreCase ? foldCase(name) : name)),
    itself: ({ name, folded }) => isOne(name, ignoreCase ? folded : name),
  };
}

/** Whether any of `patterns` matches, or, with `below`, whether it matches a directory above. */
function compileList(patterns: readonly string[], ignoreCase: boolean, below: boolean): Matcher {
  const { known, tests } = compilePatterns(patterns, ignoreCase, below);
  if (known.size === 0 && tests.length === 0) return NEVER;
  const fold = (text: string) => (ignoreCase ? foldCase(text) : text);
  const matches = (path: string) => tests.some((test) => test(path));
  return {
    anywhere: (path) => (below ? isBelow(fold(path), known) : known.has(fold(path))) || matches(path),
    itself: ({ path }) => (known.size > 0 && known.has(fold(path))) || matches(path),
  };
}

/** Text in which nothing is a wildcard. Most patterns are such names, and looking a name up costs less than matching it. */
const LITERAL = /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/;

interface CompiledPatterns {
  readonly known: ReadonlySet<string>;
  readonly tests: readonly GlobTest[];
}

function compilePatterns(patterns: readonly string[], ignoreCase: boolean, below: boolean): CompiledPatterns {
  const literals = patterns.filter((pattern) => LITERAL.test(pattern));
  const globs = patterns.filter((pattern) => !LITERAL.test(pattern)).map((pattern) => compiled(pattern, ignoreCase, below));
  if (globs.reduce((sum, { characters }) => sum + characters, 0) > GLOB_LIST_CHARACTERS_MAX) {
    const message = `the zone patterns have more than ${GLOB_LIST_CHARACTERS_MAX} characters, braces written out; use fewer or shorter ones`;
    throw new KernelError("CONFIG_INVALID", message);
  }
  return { known: new Set(ignoreCase ? literals.map(foldCase) : literals), tests: globs.map(({ test }) => test) };
}

/** A protection that cannot be compiled is refused rather than left out. */
function compiled(pattern: string, ignoreCase: boolean, below: boolean): CompiledGlob {
  const glob = compileMeasuredGlob(pattern, { ignoreCase, below });
  if (glob === undefined)
    throw new KernelError(
      "CONFIG_INVALID",
      `the zone pattern \`${pattern.slice(0, 128)}\` cannot be used; make it shorter, with fewer alternatives and balanced brackets`,
    );
  return glob;
}
