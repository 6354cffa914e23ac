/**
 * Zones of a workspace: which kind of place a path is. One compiled `ZoneMap` serves the kernel's check, the opened
 * descriptor's check, listings and searches, so that they cannot disagree.
 *
 * Secret zones are judged without regard to case (`.ENV` is as secret as `.env`), templates of secrets are not secret.
 * `.env*` takes `.envrc` in: it is refused rather than asked about. Only the built-in patterns have templates: what the
 * operator or the workspace calls secret is secret by any name.
 * INVARIANT: secret beats managed beats shared beats protected beats own.
 */
import { KernelError } from "../base/errors.ts";
import type { WorkspacePath } from "./access.ts";
import { compileGlob, type GlobTest } from "./glob.ts";

/** `own`: read and write. `protected`: writing asks. `shared`: read only. `managed`, `secret`: refused by file tools. */
export type Zone = "own" | "protected" | "shared" | "managed" | "secret";

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
  /** Paths that are read only in this workspace, by the operator's or the workspace's own rule. */
  readonly readOnly: readonly string[];
  /** Files that narrow a workspace, at any depth: an agent that could change them could take the narrowing back. */
  readonly settings: readonly string[];
}

/** The built-in rules; configuration adds to them and never takes away. */
export const BUILT_IN_ZONE_RULES: ZoneRules = {
  secret: [".env*", "secrets", ".handrail"],
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
  settings: ["handrail.yaml"],
};

/** A compiled set of zone rules. */
export interface ZoneMap {
  /** The zone of `target`; a directory's zone holds for all below it. */
  readonly classify: (target: WorkspacePath) => Zone;
}

type Matcher = (path: string) => boolean;

/**
 * Compiles `rules`.
 * @param servicePrefix path of the service root below the project root, `""` when they are the same directory
 */
export function compileZones(rules: ZoneRules, servicePrefix: string): ZoneMap {
  const secret = compileDeep(rules.secret, true);
  const template = compileDeep(rules.secretTemplates, true);
  const ownSecret = compileDeep(rules.ownSecret, true);
  const hidden = compileLiteral(rules.hidden);
  const managed = compileDeep(rules.managed, true);
  const shared = compileAnchored(rules.shared);
  const protectedFiles = compileDeep(rules.protected, true);
  const readOnly = compileDeep(rules.readOnly, false);
  const settings = compileDeep(rules.settings, true);
  const isSecret = (path: string) =>
    anyPrefix(path, (prefix, last) => ownSecret(prefix) || (secret(prefix) && !(last && template(prefix))));
  return {
    classify(target) {
      const { path } = target;
      const fromProject = target.root === "project" || servicePrefix === "" ? path : `${servicePrefix}/${path}`;
      if (isSecret(path) || anyPrefix(fromProject, hidden)) return "secret";
      if (anyPrefix(path, managed)) return "managed";
      if (target.root === "project" || anyPrefix(fromProject, shared)) return "shared";
      if (anyPrefix(path, readOnly) || anyPrefix(path, settings)) return "shared";
      return anyPrefix(path, protectedFiles) ? "protected" : "own";
    },
  };
}

/** Whether the path, or a directory above it, satisfies `test`. */
function anyPrefix(path: string, test: (prefix: string, last: boolean) => boolean): boolean {
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
    if (test(path.slice(0, end), false)) return true;
  }
  return test(path, true);
}

/** Without regard to case, as everything secret. */
function compileLiteral(paths: readonly string[]): Matcher {
  if (paths.length === 0) return () => false;
  const known = new Set(paths.map((path) => path.toLowerCase()));
  return (path) => known.has(path.toLowerCase());
}

function compileAnchored(patterns: readonly string[]): Matcher {
  return compileAll(patterns, false);
}

function compileDeep(patterns: readonly string[], ignoreCase: boolean): Matcher {
  const trimmed = patterns.map((pattern) => pattern.replace(/\/+$/, ""));
  const names = compileAll(
    trimmed.filter((pattern) => !pattern.includes("/")),
    ignoreCase,
  );
  const paths = compileAll(
    trimmed.filter((pattern) => pattern.includes("/")).map((pattern) => pattern.replace(/^\/+/, "")),
    ignoreCase,
  );
  return (candidate) => names(candidate.slice(candidate.lastIndexOf("/") + 1)) || paths(candidate);
}

/** Text in which nothing is a wildcard. Most patterns are such names, and looking a name up costs less than matching it. */
const LITERAL = /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/;

/** Whether any of `patterns` matches. */
function compileAll(patterns: readonly string[], ignoreCase: boolean): Matcher {
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text);
  const known = new Set(patterns.filter((pattern) => LITERAL.test(pattern)).map(fold));
  const tests = patterns.filter((pattern) => !LITERAL.test(pattern)).map((pattern) => compiled(pattern, ignoreCase));
  if (known.size === 0 && tests.length === 0) return () => false;
  return (path) => known.has(fold(path)) || tests.some((test) => test(path));
}

/** A protection that cannot be compiled is refused rather than left out. */
function compiled(pattern: string, ignoreCase: boolean): GlobTest {
  const test = compileGlob(pattern, { ignoreCase });
  if (test === undefined)
    throw new KernelError(
      "CONFIG_INVALID",
      `the zone pattern \`${pattern.slice(0, 128)}\` cannot be used; use fewer wildcards and balanced brackets`,
    );
  return test;
}
