/**
 * Names of branches, tags and remotes, and revisions: which of them git is given, and how.
 *
 * INVARIANT: what passes here cannot be taken for an option, for a path within a commit, for a search, or for another
 * repository.
 */
import { GIT_REF_BYTES_MAX } from "../../../base/limits.ts";

/** As `git check-ref-format --branch`, and nothing that begins with `-` or could be taken for an object's name. */
const NAME =
  /^(?!-|refs\/|@$|HEAD$|[0-9a-f]{40}$|[0-9a-f]{64}$)(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)|(?:^|\/)\.|\.$|\/$))[^\p{Cc}\p{Cf}\\ ~^:?*[]+$/u;
const REMOTE = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/;
/** A name with steps from it: `main~2`, `v1^{commit}`, `@{upstream}`, `stash@{1}`. */
const REVISION =
  /^(?<base>[^\p{Cc}\p{Cf}\\ ~^:?*[@{}]*|@)(?<steps>(?:~\d{0,6}|\^\d{0,3}|\^\{commit\}|@\{(?:\d{1,6}|-\d{1,3}|u|upstream|push)\})*)$/u;

/** Why `name` cannot be the name of a branch or tag. */
export function nameProblem(name: string): string | undefined {
  if (Buffer.byteLength(name) > GIT_REF_BYTES_MAX) return `a name has at most ${GIT_REF_BYTES_MAX} bytes`;
  if (NAME.test(name) && !name.includes("..")) return undefined;
  return `\`${shownName(name)}\` cannot be a name here; use letters, digits and \`-\`, \`_\`, \`.\`, \`/\` between them`;
}

/** The first problem that `problemOf` has with one of `texts`. */
export function firstProblem(
  texts: readonly string[],
  problemOf: (text: string) => string | undefined,
): string | undefined {
  return texts.map(problemOf).find((problem) => problem !== undefined);
}

/**
 * What new names are made of: nothing that a shell, a script or a web page that is given one could take for more than a
 * name.
 */
const NEW_NAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}._/+@=,#-]*$/u;
/** Names by which git finds something of its own first. */
const OWN_NAME = /^(?:[A-Z_]*HEAD|stash)$/;

/** Why `name` cannot be the name of a new branch or tag; what is there already may have others. */
export function newNameProblem(name: string): string | undefined {
  const problem = nameProblem(name);
  if (problem !== undefined || (NEW_NAME.test(name) && !OWN_NAME.test(name))) return problem;
  return `\`${shownName(name)}\` is no name for something new; use letters, digits and \`-\`, \`_\`, \`.\`, \`/\` between them`;
}

/**
 * Why `name` cannot be the name of a remote: an address is none, so that every one was given by a person or judged
 * before.
 */
export function remoteProblem(name: string): string | undefined {
  if (REMOTE.test(name) && !name.includes("..") && !name.endsWith("/")) return undefined;
  return `\`${shownName(name)}\` is no name of a remote; addresses are given to REMOTE add`;
}

/** Why `text` is no revision that is taken here. */
export function revisionProblem(text: string): string | undefined {
  const found = REVISION.exec(text);
  const base = found?.groups?.["base"] ?? "";
  const steps = found?.groups?.["steps"] ?? "";
  const isWell =
    found !== null &&
    Buffer.byteLength(text) <= GIT_REF_BYTES_MAX &&
    !text.startsWith("-") &&
    !base.includes("..") &&
    (base !== "" || steps.startsWith("@{"));
  if (isWell) return undefined;
  const hint = text.includes(":") ? "; to see a file of a commit give SHOW `<commit> -- <path>`" : "";
  return `\`${shownName(text)}\` is no revision that is taken here: a branch, tag or commit, with \`~n\`, \`^n\` or \`@{n}\` behind it${hint}`;
}

/** A range of commits, or one. */
export type Range =
  | { readonly kind: "one"; readonly revision: string }
  | { readonly kind: "without"; readonly revision: string }
  | { readonly kind: ".." | "..."; readonly from: string; readonly to: string };

/** `text` as a range, or why it is none. */
export function parseRange(text: string): Range | string {
  const dots = /^(.*?)(\.\.\.?)(?!\.)(.*)$/.exec(text);
  if (dots !== null) {
    const [, from = "", kind, to = ""] = dots;
    const problem = (from === "" ? undefined : revisionProblem(from)) ?? (to === "" ? undefined : revisionProblem(to));
    return (
      problem ?? { kind: kind === "..." ? "..." : "..", from: from === "" ? "HEAD" : from, to: to === "" ? "HEAD" : to }
    );
  }
  const without = text.startsWith("^");
  const revision = without ? text.slice(1) : text;
  return revisionProblem(revision) ?? { kind: without ? "without" : "one", revision };
}

/** The revisions of `range`. */
export function revisionsOf(range: Range): readonly string[] {
  return "revision" in range ? [range.revision] : [range.from, range.to];
}

/** `range` for git, each revision as a commit: a file, or a directory, by itself is none. */
export function rangeArgument(range: Range): string {
  if (range.kind === "one") return commitOf(range.revision);
  if (range.kind === "without") return `^${commitOf(range.revision)}`;
  return `${commitOf(range.from)}${range.kind}${commitOf(range.to)}`;
}

/** `revision` as a commit. */
export function commitOf(revision: string): string {
  return `${revision.replace(/\^\{commit\}$/, "")}^{commit}`;
}

/** A name, an entry of its log, and the steps from there. */
const PARTS = /^((?:[^~^@]|@(?!\{))*(?:@\{[^}]*\})?)((?:~\d*|\^\{commit\}|\^\d*)*)$/;
const STEP = /~\d*|\^\{commit\}|\^\d*/g;
/** Steps that lead nowhere else. */
const IDLE_STEP = /^(?:~0+|\^0+|\^\{commit\})$/;

/** What a revision begins with, for whoever looks names up, and the steps from there that lead elsewhere. */
export function partsOf(revision: string): { readonly base: string; readonly steps: string } | undefined {
  const [, base, steps = ""] = PARTS.exec(revision) ?? [];
  if (base === undefined) return undefined;
  const kept = (steps.match(STEP) ?? []).filter((step) => !IDLE_STEP.test(step));
  return { base: base === "@" ? "HEAD" : base, steps: kept.join("") };
}

/** Where names of each kind lie, in the order in which git looks for them. */
const SPACES = { tag: "refs/tags/", branch: "refs/heads/", "remote-tracking branch": "refs/remotes/" } as const;

/** What a name stands for, all of it where that is several things: kinds, with whole names. */
export function meaningsOf(
  name: string,
  resolve: (full: string) => string | undefined,
): readonly { readonly kind: string; readonly full: string }[] {
  if (name.startsWith("refs/") || name === "HEAD") return [];
  return Object.entries(SPACES)
    .map(([kind, space]) => ({ kind, full: space + name }))
    .filter(({ full }) => resolve(full) !== undefined);
}

/** A name for a message: short, and without what is not seen. */
export function shownName(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?").slice(0, 100);
}
