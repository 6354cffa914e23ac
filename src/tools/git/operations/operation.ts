/** Defines a git operation: its arguments, its accesses and its run. */
import type { JsonObject } from "../../../base/json.ts";
import type { EffectClass } from "../../../model/outcome/effect.ts";
import type { Access, GitRefResource } from "../../../model/place/access.ts";
import type { ToolContext } from "../../../model/tool/tool.ts";
import type { FoundRepository, GitRepository } from "../../../model/work/git.ts";
import { isProtected } from "../../../model/work/protected-branches.ts";
import type { OptionTable, Parsed } from "../calls/options.ts";
import { judgedObject } from "../calls/pinned.ts";
import { workspacePath } from "../calls/places.ts";
import type { Runner } from "../calls/runner.ts";

/** A call as analysis sees it. */
export interface Asked {
  readonly parsed: Parsed;
  readonly cwd: string;
  readonly repository: GitRepository;
}

/** A call while it runs. */
export interface Running {
  readonly parsed: Parsed;
  readonly cwd: string;
  readonly repository: FoundRepository;
  readonly git: Runner;
  readonly context: ToolContext;
}

/** A reference that an operation touches, and how. */
export type Touched = Omit<GitRefResource, "kind" | "operation"> & { readonly effect: EffectClass };

/** A path that an operation touches, as the call names it. */
export interface TouchedPath {
  readonly path: string;
  readonly effect: "read" | "write";
}

/** What an operation touches besides. */
export interface Touches {
  readonly refs: readonly [Touched, ...Touched[]];
  readonly paths?: readonly TouchedPath[];
  readonly hosts?: readonly { readonly host: string; readonly port: number }[];
  /** The hosts are only asked what they have. */
  readonly sendsNothing?: true;
}

/** One operation. */
export interface Operation {
  readonly options: OptionTable;
  /** How it is written, for refusals and for people. */
  readonly usage: string;
  /** Why the arguments are refused, beyond what their options say. */
  readonly check: (parsed: Parsed) => string | undefined;
  readonly touches: (asked: Asked) => Touches;
  readonly run: (running: Running) => Promise<JsonObject>;
  /** It needs no repository that is there already. */
  readonly isNew?: true;
}

/** The accesses of an operation that runs in `cwd`; each is judged as `action`, or as the tool itself without one. */
export function accessesOf(
  { refs, paths = [], hosts = [], sendsNothing }: Touches,
  cwd: string,
  { operation, action }: { readonly operation: string; readonly action: string | undefined },
): readonly Access[] {
  const named = action === undefined ? {} : { action };
  return [
    ...refs.map(
      ({ effect, ...ref }): Access => ({ resource: { kind: "git_ref", ...ref, operation }, effect, ...named }),
    ),
    ...[...new Map(paths.map((one) => [`${one.effect} ${one.path}`, one])).values()].flatMap(
      ({ path, effect }): readonly Access[] => {
        const place = workspacePath(cwd, path);
        // Of a whole workspace each file that turns out to be meant is judged.
        return place === "." ? [] : [{ resource: { kind: "file", path: place }, effect, ...named }];
      },
    ),
    ...hosts.map(
      (host): Access => ({
        resource: { kind: "host", ...host },
        effect: "network",
        ...named,
        ...(sendsNothing && { sendsNothing }),
      }),
    ),
  ];
}

/** `revision` as something that is read. */
export function readRef(repository: GitRepository, revision: string): Touched {
  const commit = judgedObject(repository, revision);
  return { ref: revision, effect: "read", ...(commit !== undefined && { commit }) };
}

/** Binds a call to what is staged and under way: it makes a commit of that. */
export function bindStaged(repository: GitRepository): void {
  if (repository.kind !== "found") return;
  repository.staged();
  repository.progress();
}

/** The branch that an operation moves: the current one where it names none. */
export function movedBranch(
  repository: GitRepository,
  given: { readonly name?: string; readonly force?: boolean } = {},
): Touched {
  const found = repository.kind === "found" ? repository : undefined;
  const current = found?.state.rebasing ?? found?.branch;
  const name = given.name ?? current ?? "HEAD";
  const commit = found?.resolve(given.name === undefined ? "HEAD" : `refs/heads/${name}`);
  return {
    ref: name,
    effect: "write",
    ...(commit !== undefined && { commit }),
    ...(isProtected(repository, name) && { protected: true as const }),
    ...(given.force === true && { force: true as const }),
  };
}
