/**
 * Implements the git operations that reach a remote: FETCH, PULL, PUSH and CLONE.
 *
 * They reach it over https alone, at the host that the call was judged by.
 *
 * INVARIANT: the remote is one whose address stands in the repository, or was given to CLONE. What is pushed, and
 * whether by force, is named to policy.
 */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../../base/json.ts";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { GitRepository } from "../../../model/work/git.ts";
import { isProtected } from "../../../model/work/protected-branches.ts";
import {
  firstProblem,
  nameProblem,
  newNameProblem,
  remoteProblem,
  revisionProblem,
  shownName,
} from "../calls/names.ts";
import { has, lastValue, type OptionTable, optionsOf, type Parsed, written } from "../calls/options.ts";
import { judgedObject, requireObject, requireOneMeaning } from "../calls/pinned.ts";
import { pathProblem, workspacePath } from "../calls/places.ts";
import { addressOf, addressProblem, hostOf, reachOf, requireReach } from "../calls/remotes.ts";
import { type Asked, movedBranch, type Operation, type Running, type Touched } from "./operation.ts";
import { ended } from "./tree-operations.ts";

const QUIET: OptionTable = optionsOf("--quiet -q --verbose -v", { idle: true });
const DEPTH: OptionTable = { "--depth": { takes: "count" }, "--no-tags": {} };

/** The remote and the branches that a call names, or what the current branch follows. */
function named(
  { operands: [remote, ...branches] }: Parsed,
  repository: GitRepository,
): { readonly remote: string; readonly branches: readonly string[] } {
  const current = repository.kind === "found" ? repository.branch : undefined;
  const followed =
    repository.kind === "found" && current !== undefined && Object.hasOwn(repository.upstreams, current)
      ? repository.upstreams[current]
      : undefined;
  return { remote: remote ?? followed?.remote ?? "origin", branches };
}

function namesProblem({ operands: [remote, ...branches], paths = [] }: Parsed): string | undefined {
  if (paths.length > 0) return "no paths are taken";
  return (remote === undefined ? undefined : remoteProblem(remote)) ?? firstProblem(branches, nameProblem);
}

function hostsOf(repository: GitRepository, remote: string, pushes: boolean) {
  const host = hostOf(addressOf(repository, remote, pushes) ?? "");
  return host === undefined ? [] : [host];
}

function fetched({ parsed, repository }: Asked): {
  readonly refs: readonly [Touched, ...Touched[]];
  readonly hosts: ReturnType<typeof hostsOf>;
} {
  const { remote, branches } = named(parsed, repository);
  const [first = "*", ...more] = branches;
  // What leaves is judged by the host beside it; here references are written.
  const ref = (name: string): Touched => ({ remote, ref: name, effect: "write" });
  return { refs: [ref(first), ...more.map(ref)], hosts: hostsOf(repository, remote, false) };
}

const FETCH_SAFE = [
  "--no-recurse-submodules",
  "--no-auto-maintenance",
  "--no-write-commit-graph",
  "--no-progress",
] as const;
/** Tags of a remote may have names that something else has here; they come only when they are asked for. */
const NO_TAGS = "--no-tags";

async function fetchNow(
  { parsed, git, repository }: Running,
  more: readonly string[],
  branches: readonly string[],
): Promise<string> {
  const { remote } = named(parsed, repository);
  const reach = requireReach(repository, remote, "git-upload-pack");
  await git.run("repository", ["fetch", ...FETCH_SAFE, ...more, "--", remote, ...branches], reach);
  return remote;
}

/** FETCH. */
export const fetch: Operation = {
  usage: "FETCH [<remote> [<branch>…]]",
  options: { ...QUIET, ...DEPTH, ...optionsOf("--prune|-p --tags|-t --unshallow") },
  check: namesProblem,
  touches: fetched,
  async run(running) {
    const { parsed } = running;
    const { branches } = named(parsed, running.repository);
    const remote = await fetchNow(
      running,
      [...(has(parsed, "--tags") ? ["--tags"] : [NO_TAGS]), ...written(parsed, ["--prune", "--unshallow", "--depth"])],
      branches,
    );
    return { text: `fetched from ${remote}`, remote };
  },
};

/**
 * Fetches one branch of the remote. It goes into a reference of the call's own: what another fetch brings meanwhile, or
 * a tag of that name, is no part of it.
 */
async function fetchBranch(
  running: Running,
  branch: string,
): Promise<{ readonly remote: string; readonly commit: string }> {
  const { git } = running;
  const own = `refs/handrail/pull-${randomBytes(16).toString("hex")}`;
  const spec = `+refs/heads/${branch}:${own}`;
  const remote = await fetchNow(running, [NO_TAGS, "--no-write-fetch-head"], [spec]);
  const commit = (await git.run("nothing", ["rev-parse", "--verify", `${own}^{commit}`])).trim();
  await git.run("repository", ["update-ref", "-d", own]);
  return { remote, commit };
}

/** PULL: what was fetched is looked at before it is merged. */
export const pull: Operation = {
  usage: "PULL [--ff-only] [<remote> [<branch>]]",
  options: { ...QUIET, ...optionsOf("--ff-only --ff --no-ff"), ...optionsOf("--no-rebase --no-edit", { idle: true }) },
  check: (parsed) => (parsed.operands.length > 2 ? "one remote and one branch are taken" : namesProblem(parsed)),
  touches(asked) {
    const { refs, hosts } = fetched(asked);
    return { refs: [...refs, movedBranch(asked.repository)], hosts };
  },
  async run(running) {
    const { parsed, git, repository } = running;
    const { branches } = named(parsed, repository);
    const current = repository.branch === undefined ? undefined : repository.upstreams[repository.branch]?.branch;
    const branch = branches[0] ?? current ?? repository.branch;
    if (branch === undefined)
      throw new FailureWithoutEffect("NOT_SUPPORTED", "no branch is checked out", "name the remote and the branch");
    const { remote, commit: theirs } = await fetchBranch(running, branch);
    const how = ["--no-edit", "--no-verify", "--no-gpg-sign", "--no-stat"];
    const given = written(parsed, ["--ff-only", "--ff", "--no-ff"]);
    const merged = await git.try("files", ["merge", ...how, ...given, theirs]);
    if (merged.exitCode !== 0) return ended(git, merged, "merge");
    const [commit = ""] = await git.fields(["log", "-1", "-z", "--format=%H"]);
    return { text: `pulled ${branch} from ${remote}, now at ${commit.slice(0, 12)}`, remote, branch, commit };
  },
};

/** One reference that is pushed. */
interface Pushed {
  readonly source: string;
  readonly target: string;
  readonly force: boolean;
}

function parsePushed(parsed: Parsed, spec: string): Pushed | string {
  const [, plus = "", source = "", colon, target = ""] = /^(\+?)([^:]*)(?:(:)([^:]*))?$/.exec(spec) ?? [];
  const isDeleting = has(parsed, "--delete") || (colon !== undefined && source === "");
  const name = has(parsed, "--delete") || colon === undefined ? source : target;
  const plain = name.replace(/^refs\/(?:heads|tags)\//, "");
  // Under its own name something is pushed that is there; under another one something is made.
  const problem =
    (isDeleting || plain === source.replace(/^refs\/(?:heads|tags)\//, "") ? nameProblem : newNameProblem)(plain) ??
    (isDeleting ? undefined : revisionProblem(source));
  if (problem !== undefined) return problem;
  return {
    source: isDeleting ? "" : source,
    target: name,
    force: plus !== "" || isDeleting || has(parsed, "--force") || has(parsed, "--force-with-lease"),
  };
}

function pushesOf(parsed: Parsed, repository: GitRepository): readonly Pushed[] {
  const specs = parsed.operands.slice(1);
  const current = repository.kind === "found" ? repository.branch : undefined;
  const force = has(parsed, "--force") || has(parsed, "--force-with-lease");
  if (specs.length === 0)
    return current === undefined ? [] : [{ source: `refs/heads/${current}`, target: current, force }];
  return specs.flatMap((spec) => {
    const pushed = parsePushed(parsed, spec);
    return typeof pushed === "string" ? [] : [pushed];
  });
}

/** PUSH. */
export const push: Operation = {
  usage: "PUSH [--dry-run] [--force-with-lease] [<remote> [<branch>[:<branch>]…]]",
  options: {
    ...QUIET,
    ...optionsOf("--dry-run|-n --force|-f --force-with-lease --delete|-d"),
    ...optionsOf("--porcelain --no-progress", { idle: true }),
  },
  check(parsed) {
    const [remote, ...specs] = parsed.operands;
    if ((parsed.paths ?? []).length > 0) return "no paths are taken";
    if (has(parsed, "--delete") && specs.length === 0) return "name the remote and the branch to delete";
    const problem = remote === undefined ? undefined : remoteProblem(remote);
    return (
      problem ?? specs.map((spec) => parsePushed(parsed, spec)).find((one): one is string => typeof one === "string")
    );
  },
  touches({ parsed, repository }) {
    const { remote } = named(parsed, repository);
    const dryRun = has(parsed, "--dry-run") && { dryRun: true as const };
    const effect = has(parsed, "--dry-run") ? ("read" as const) : ("network" as const);
    const refs = pushesOf(parsed, repository).map(({ source, target, force }): Touched => {
      const commit = source === "" ? undefined : judgedObject(repository, source);
      const name = target.replace(/^refs\/heads\//, "");
      return {
        remote,
        ref: name,
        effect,
        ...dryRun,
        ...(force && { force: true as const }),
        ...(isProtected(repository, name) && { protected: true as const }),
        ...(commit !== undefined && { commit }),
      };
    });
    const [first = { remote, ref: "HEAD", effect, ...dryRun }, ...more] = refs;
    // The egress proxy lets git ask for the references alone, and sends nothing of the repository.
    const sendsNothing = has(parsed, "--dry-run") && { sendsNothing: true as const };
    return { refs: [first, ...more], hosts: hostsOf(repository, remote, true), ...sendsNothing };
  },
  run: runPush,
};

async function runPush({ parsed, git, repository }: Running): Promise<JsonObject> {
  const { remote } = named(parsed, repository);
  const reach = requireReach(repository, remote, "git-receive-pack");
  const pushed = pushesOf(parsed, repository);
  if (pushed.length === 0)
    throw new FailureWithoutEffect("NOT_SUPPORTED", "no branch is checked out", "name the remote and the branch");
  const dryRun = has(parsed, "--dry-run");
  const specs = pushed.map(({ source, target, force }) => {
    const full = target.startsWith("refs/")
      ? target
      : `${isTag(repository, source) ? "refs/tags" : "refs/heads"}/${target}`;
    if (source === "") return `:${full}`;
    requireOneMeaning(repository, source);
    // Git asks the remote before it looks names up: by then they may stand for something else.
    return `${force && !has(parsed, "--force-with-lease") ? "+" : ""}${requireObject(repository, source)}:${full}`;
  });
  const how = [
    "--porcelain",
    "--no-progress",
    "--no-verify",
    "--no-signed",
    "--no-follow-tags",
    "--recurse-submodules=no",
    ...written(parsed, ["--dry-run", "--force-with-lease"]),
  ];
  const asked = dryRun ? { ...reach, asksOnly: true as const } : reach;
  const text = await git.run(dryRun ? "nothing" : "repository", ["push", ...how, "--", remote, ...specs], asked);
  return { text, remote, dry_run: dryRun, pushed: pushed.map(({ target }) => target.replace(/^refs\/heads\//, "")) };
}

function isTag(repository: GitRepository, name: string): boolean {
  return (
    repository.kind === "found" &&
    repository.resolve(`refs/heads/${name}`) === undefined &&
    repository.resolve(`refs/tags/${name}`) !== undefined
  );
}

/** The directory that a clone goes to, from `cwd`. */
export function cloneTarget({ operands: [address = "", directory] }: Parsed): string {
  return directory ?? (address.replace(/\/+$/, "").split("/").pop() ?? "").replace(/\.git$/, "");
}

/** CLONE. */
export const clone: Operation = {
  usage: "CLONE [--depth <number>] [--branch <branch>] [--tags] <https address> [<directory>]",
  options: {
    ...QUIET,
    ...DEPTH,
    ...optionsOf("--branch|-b", { takes: "text" }),
    ...optionsOf("--single-branch --tags"),
  },
  isNew: true,
  check(parsed) {
    const { operands, paths = [] } = parsed;
    const [address] = operands;
    if (paths.length > 0 || address === undefined || operands.length > 2)
      return "name the https address, and a directory if it shall be another";
    const branch = lastValue(parsed, "--branch");
    return (
      addressProblem(address) ??
      pathProblem(cloneTarget(parsed)) ??
      (branch === undefined ? undefined : nameProblem(branch))
    );
  },
  touches({ parsed }) {
    const [address = ""] = parsed.operands;
    const host = hostOf(address);
    return {
      refs: [{ remote: address, ref: lastValue(parsed, "--branch") ?? "HEAD", effect: "write" }],
      paths: [{ path: cloneTarget(parsed), effect: "write" }],
      hosts: host === undefined ? [] : [host],
    };
  },
  async run({ parsed, git, cwd }) {
    const [address = ""] = parsed.operands;
    const reach = reachOf(address, "git-upload-pack");
    const directory = workspacePath(cwd, cloneTarget(parsed));
    if (reach === undefined)
      throw new FailureWithoutEffect(
        "NOT_SUPPORTED",
        `\`${shownName(address)}\` is no address that is taken`,
        "use an https address",
      );
    const how = [
      "--no-recurse-submodules",
      "--no-local",
      "--no-hardlinks",
      "--template=",
      "--origin=origin",
      ...(has(parsed, "--tags") ? [] : [NO_TAGS]),
      ...written(parsed, ["--depth", "--branch", "--single-branch"]),
    ];
    await git.run("new", ["clone", "--quiet", "--no-progress", ...how, "--", address, directory], reach);
    return { text: `cloned into ${directory}`, directory };
  },
};
