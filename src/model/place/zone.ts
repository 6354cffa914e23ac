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

import { PathLists } from "../../names/path-lists.ts";
import type { WorkspacePath } from "./access.ts";
import {
  OBEYED_BUT_PLAIN_PATTERNS,
  OBEYED_EXACTLY,
  OBEYED_PATTERNS,
  PLAIN_DOCUMENTS,
} from "./obeyed-files/obeyed-files.ts";

/**
 * `own`: read and write. `protected`: writing asks. `shared`: read only. `managed`, `secret`: refused by file tools.
 */
export type Zone = "own" | "protected" | "shared" | "managed" | "secret";

/**
 * What holds for writing beside the zone: `installation` and `read_only` refuse it, `protected` asks. The first because
 * the file belongs to the Handrail that is running, the others by a workspace's own, untrusted rules.
 */
export type Restriction = "installation" | "read_only" | "protected";

/**
 * Patterns of a workspace, as configuration and the built-in rules give them. A pattern without `/` matches at any
 * depth.
 */
export interface ZoneRules {
  readonly secret: readonly string[];
  /** Names that `secret` takes in and that hold no secret. */
  readonly secretTemplates: readonly string[];
  /** Secret by the operator's or the workspace's own rule: no template is excused from it. */
  readonly ownSecret: readonly string[];
  /** Paths from the project root, taken literally, that are secret with all below: directories of Handrail itself. */
  readonly hidden: readonly string[];
  /**
   * The same for the installation of the Handrail that is running, which is read only; `""` where the project lies in
   * it.
   */
  readonly installation: readonly string[];
  readonly managed: readonly string[];
  /** Directories relative to the project root. */
  readonly shared: readonly string[];
  /** What of the project may be reached of them; all of them when absent. They are read only in any case. */
  readonly reachable?: readonly string[];
  readonly protected: readonly string[];
  /** The same for names whose case counts. */
  readonly protectedExactly: readonly string[];
  /** The same for paths from the service root, taken literally, with all below. */
  readonly protectedPaths: readonly string[];
  /** The same as `protected` for directories that hold plain documents, too. */
  readonly protectedButPlain: readonly string[];
  /** Those documents and directories of them, as literal paths from the root: only `protectedButPlain` excuses them. */
  readonly plain: readonly string[];
  /** Paths that are read only in this workspace, by the operator's rule or one that the operator trusts. */
  readonly readOnly: readonly string[];
  /**
   * Paths that the workspace itself wants not to be written, without the operator's trust: no zone follows from them.
   */
  readonly restrictedReadOnly: readonly string[];
  /** The same for writing that should ask. */
  readonly restrictedProtected: readonly string[];
  /** Files that narrow a workspace, at any depth: an agent that could change them could take the narrowing back. */
  readonly settings: readonly string[];
}

/** The built-in rules; configuration adds to them and never takes away. */
export const BUILT_IN_ZONE_RULES: ZoneRules = {
  secret: [".env*", "secrets", ".handrail", "evidence.key", "approver.token"],
  secretTemplates: [".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults"],
  ownSecret: [],
  hidden: [],
  installation: [],
  managed: [".git", "node_modules"],
  shared: ["shared", "contracts", "shared_contracts"],
  protected: OBEYED_PATTERNS,
  protectedExactly: OBEYED_EXACTLY,
  protectedPaths: [],
  protectedButPlain: OBEYED_BUT_PLAIN_PATTERNS,
  plain: PLAIN_DOCUMENTS,
  readOnly: [],
  restrictedReadOnly: [],
  restrictedProtected: [],
  settings: ["handrail.yaml", "**/.flow/config.json"],
};

/** A compiled set of zone rules. */
export interface ZoneMap {
  /** The zone of `target`; a directory's zone holds for all below it. */
  readonly classify: (target: WorkspacePath) => Zone;
  /** What holds for writing `target` beside its zone. */
  readonly restriction: (target: WorkspacePath) => Restriction | undefined;
  /** Whether a rule may name something below `target` by a path through it: a link there would lead past the rule. */
  readonly isAboveRule: (target: WorkspacePath) => boolean;
}

/** What a path is on: one bit for each list of the rules. */
const SECRET = 1;
const TEMPLATE = 2;
const OWN_SECRET = 4;
const HIDDEN = 8;
const MANAGED = 16;
const SHARED = 32;
const PROTECTED = 64;
const READ_ONLY = 128;
const SETTINGS = 256;
const RESTRICTED_READ_ONLY = 512;
const RESTRICTED_PROTECTED = 1024;
const PROTECTED_BUT_PLAIN = 2048;
const PLAIN = 4096;
const INSTALLATION = 8192;

/** What holds for everything in a directory, whatever its name. */
interface Inside {
  readonly root: WorkspacePath["root"];
  readonly directory: string;
  /** Where the directory ends in the path of what lies in it; -1 in the root. */
  readonly end: number;
  /** The lists that it is on. */
  readonly lists: number;
  /** Whether something in it may be on a list by its whole path, from its own root or the project's. */
  readonly byPath: boolean;
  /** Its name, where something in it may be on a list by that and its own name. */
  readonly pairedWith: string | undefined;
}

/**
 * Compiles `rules`.
 * @param servicePrefix path of the service root below the project root, `""` when they are the same directory
 */
export function compileZones(rules: ZoneRules, servicePrefix: string): ZoneMap {
  const lists = compileLists(rules);
  const everywhere = rules.installation.includes("") ? INSTALLATION : 0;
  const fromProject = (root: WorkspacePath["root"], path: string): string =>
    root === "project" || servicePrefix === "" ? path : `${servicePrefix}/${path}`;
  const insideOf = (root: WorkspacePath["root"], directory: string): Inside => {
    const place = directory !== "" ? fromProject(root, directory) : root === "project" ? "" : servicePrefix;
    const own = directory === "" ? 0 : lists.namedAnywhere(directory) | lists.covering(directory);
    const inProject = place === "" ? 0 : lists.coveringInProject(place);
    const name = directory.slice(directory.lastIndexOf("/") + 1);
    return {
      root,
      directory,
      pairedWith: lists.mayPairWith(name) ? name : undefined,
      end: directory === "" ? -1 : directory.length,
      lists: own | inProject | everywhere,
      byPath: lists.mayNameIn(directory, place),
    };
  };
  // Listings and searches ask for all files of a directory, one after the other.
  let last = insideOf("service", "");
  /** The lists that `path` itself is on, once `last` is its directory. */
  const ownLists = ({ root, path }: WorkspacePath): number => {
    const slash = path.lastIndexOf("/");
    if (last.root !== root || last.end !== slash || !path.startsWith(last.directory)) {
      last = insideOf(root, slash === -1 ? "" : path.slice(0, slash));
    }
    const name = slash === -1 ? path : path.slice(slash + 1);
    const named =
      last.pairedWith === undefined ? lists.named(name) : lists.named(name) | lists.paired(last.pairedWith, name);
    return last.byPath ? named | lists.naming(path) | lists.namingInProject(fromProject(root, path)) : named;
  };
  return {
    classify(target) {
      if (target.root === "scratch") return "own"; // no rule of a workspace speaks of it
      const own = ownLists(target);
      const any = own | last.lists;
      if ((any & (OWN_SECRET | HIDDEN)) !== 0 || (last.lists & SECRET) !== 0) return "secret";
      // A template is excused as the file that is named, not as a directory with secrets in it.
      if ((own & SECRET) !== 0 && (own & TEMPLATE) === 0) return "secret";
      if ((any & MANAGED) !== 0) return "managed";
      if (target.root === "project" || (any & (SHARED | READ_ONLY | SETTINGS)) !== 0) return "shared";
      return (any & PROTECTED) !== 0 || (any & (PROTECTED_BUT_PLAIN | PLAIN)) === PROTECTED_BUT_PLAIN
        ? "protected"
        : "own";
    },
    restriction(target) {
      if (target.root === "scratch") return undefined;
      const any = ownLists(target) | last.lists;
      if ((any & INSTALLATION) !== 0) return "installation";
      if ((any & RESTRICTED_READ_ONLY) !== 0) return "read_only";
      return (any & RESTRICTED_PROTECTED) !== 0 ? "protected" : undefined;
    },
    isAboveRule: ({ root, path }) => root !== "scratch" && lists.isAbove(path, fromProject(root, path)),
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
  for (const patterns of [files.secret, files.read_only, files.protected])
    new DeepLists(true).add(OWN_SECRET, patterns);
}

/** What of the rules a path is on, by its names and by its whole from its own root or from the project's. */
interface ZoneLists {
  /** The lists that have `name` as a name. */
  readonly named: (name: string) => number;
  /** The lists that have `name` in a directory called `parent`, wherever that lies. */
  readonly paired: (parent: string, name: string) => number;
  /** Whether a list may have something in a directory called `parent`, wherever that lies. */
  readonly mayPairWith: (parent: string) => boolean;
  /** The same as `named` and `paired` for any component of `path`. */
  readonly namedAnywhere: (path: string) => number;
  readonly naming: (path: string) => number;
  readonly covering: (path: string) => number;
  readonly namingInProject: (place: string) => number;
  readonly coveringInProject: (place: string) => number;
  /** Whether something in the directory may be named by its path; `place` is the directory from the project's root. */
  readonly mayNameIn: (directory: string, place: string) => boolean;
  /** The same for whatever lies below `path`, where more than its own names tell it. */
  readonly isAbove: (path: string, place: string) => boolean;
}

function compileLists(rules: ZoneRules): ZoneLists {
  const folded = new DeepLists(true);
  folded.add(SECRET, rules.secret);
  folded.add(OWN_SECRET, rules.ownSecret);
  folded.add(MANAGED, rules.managed);
  folded.add(PROTECTED, rules.protected);
  folded.add(PROTECTED_BUT_PLAIN, rules.protectedButPlain);
  folded.paths.addLiteral(PLAIN, rules.plain);
  folded.paths.addLiteral(PROTECTED, rules.protectedPaths);
  folded.add(SETTINGS, rules.settings);
  folded.add(RESTRICTED_PROTECTED, rules.restrictedProtected);
  folded.names.add(TEMPLATE, rules.secretTemplates);
  const exact = new DeepLists(false);
  exact.add(READ_ONLY, rules.readOnly);
  exact.add(PROTECTED, rules.protectedExactly);
  exact.add(RESTRICTED_READ_ONLY, rules.restrictedReadOnly);
  const hidden = new PathLists({ ignoreCase: true, below: true }); // as everything secret
  hidden.addLiteral(HIDDEN, rules.hidden);
  hidden.addLiteral(
    INSTALLATION,
    rules.installation.filter((path) => path !== ""),
  );
  const shared = new PathLists({ ignoreCase: false, below: true });
  shared.add(SHARED, rules.shared);
  const named = (name: string) => folded.names.naming(name) | exact.names.naming(name);
  const paired = (parent: string, name: string) =>
    folded.pairs.naming(`${parent}/${name}`) | exact.pairs.naming(`${parent}/${name}`);
  const mayPairWith = (parent: string) => folded.pairs.mayNameIn(parent) || exact.pairs.mayNameIn(parent);
  return {
    named,
    paired,
    mayPairWith,
    namedAnywhere(path) {
      let lists = 0;
      let parent = "";
      for (const name of path.split("/")) {
        lists |= named(name) | paired(parent, name);
        parent = name;
      }
      return lists;
    },
    naming: (path) => folded.paths.naming(path) | exact.paths.naming(path),
    covering: (path) => folded.paths.covering(path) | exact.paths.covering(path),
    namingInProject: (place) => hidden.naming(place) | shared.naming(place),
    coveringInProject: (place) => hidden.covering(place) | shared.covering(place),
    mayNameIn: (directory, place) =>
      folded.paths.mayNameIn(directory) ||
      exact.paths.mayNameIn(directory) ||
      hidden.mayNameIn(place) ||
      shared.mayNameIn(place),
    isAbove: (path, place) =>
      mayPairWith(path.slice(path.lastIndexOf("/") + 1)) ||
      folded.paths.isAbove(path) ||
      exact.paths.isAbove(path) ||
      hidden.isAbove(place) ||
      shared.isAbove(place),
  };
}

/** Two names one below the other, at any depth. */
const PAIR = /^\*\*\/([A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+)$/;

/** Patterns without `/` match at any depth, others from the root. */
class DeepLists {
  readonly names: PathLists;
  /** A name and the directory above it. */
  readonly pairs: PathLists;
  readonly paths: PathLists;

  constructor(ignoreCase: boolean) {
    this.names = new PathLists({ ignoreCase, below: false });
    this.pairs = new PathLists({ ignoreCase, below: false });
    this.paths = new PathLists({ ignoreCase, below: true });
  }

  add(list: number, patterns: readonly string[]): void {
    const trimmed = patterns.map((pattern) => pattern.replace(/\/+$/, ""));
    this.names.add(
      list,
      trimmed.filter((pattern) => !pattern.includes("/")),
    );
    this.pairs.addLiteral(
      list,
      trimmed.flatMap((pattern) => PAIR.exec(pattern)?.[1] ?? []),
    );
    this.paths.add(
      list,
      trimmed
        .filter((pattern) => pattern.includes("/") && !PAIR.test(pattern))
        .map((pattern) => pattern.replace(/^\/+/, "")),
    );
  }
}
