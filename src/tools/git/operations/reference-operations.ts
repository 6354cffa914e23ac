/** BRANCH, TAG and REMOTE: listing and changing references, and the addresses of remotes. */
import type { JsonObject } from "../../../base/json.ts";
import type { FoundRepository } from "../../../model/work/git.ts";
import { isProtected } from "../../../model/work/protected-branches.ts";
import { joinedMessage, messageProblem, requireFit } from "../calls/message.ts";
import { commitOf, firstProblem, nameProblem, newNameProblem, remoteProblem, revisionProblem } from "../calls/names.ts";
import { has, lastValue, type OptionTable, optionsOf, type Parsed } from "../calls/options.ts";
import { judgedCommit } from "../calls/pinned.ts";
import { addressProblem } from "../calls/remotes.ts";
import type { Runner } from "../calls/runner.ts";
import { movedBranch, type Operation, readRef, type Touched } from "./operation.ts";
import { requireBranchName } from "./tree-operations.ts";

const QUIET: OptionTable = optionsOf("--quiet -q --no-color", { idle: true });
const COMMIT_FILTERS = ["--merged", "--no-merged", "--contains", "--no-contains", "--points-at"] as const;
const FILTER_OPTIONS: OptionTable = Object.fromEntries(COMMIT_FILTERS.map((name) => [name, { takes: "text" }]));

function filterProblem(parsed: Parsed): string | undefined {
  return firstProblem(
    COMMIT_FILTERS.flatMap((name) => parsed.options.get(name) ?? []),
    revisionProblem,
  );
}

function filters(parsed: Parsed): readonly string[] {
  return COMMIT_FILTERS.flatMap((name) =>
    (parsed.options.get(name) ?? []).map((revision) => `${name}=${commitOf(revision)}`),
  );
}

const BRANCH_VERBS = ["--delete", "--move", "--set-upstream-to", "--unset-upstream", "--show-current"] as const;

function branchVerb(parsed: Parsed): (typeof BRANCH_VERBS)[number] | "list" | "create" {
  const verb = BRANCH_VERBS.find((name) => has(parsed, name));
  if (verb !== undefined) return verb;
  return parsed.operands.length > 0 && !has(parsed, "--list") ? "create" : "list";
}

/** BRANCH. */
export const branch: Operation = {
  usage:
    "BRANCH [--all | --remotes] | <new> [<start>] | -d <branch>… | -m [<old>] <new> | --set-upstream-to=<remote>/<branch>",
  options: {
    ...QUIET,
    ...FILTER_OPTIONS,
    ...optionsOf("--list|-l --all|-a --remotes|-r"),
    ...optionsOf("--verbose -v", { idle: true }),
    ...optionsOf("--show-current --force|-f --delete|-d"),
    "-D": { same: "--delete-unmerged" },
    ...optionsOf("--move|-m"),
    ...optionsOf("--set-upstream-to|-u", { takes: "text" }),
    "--unset-upstream": {},
    "--no-track": { idle: true },
  },
  check(parsed) {
    const { operands } = parsed;
    const verbs = [...BRANCH_VERBS, "--delete-unmerged"].filter((name) => has(parsed, name));
    if ((parsed.paths ?? []).length > 0) return "no paths are taken";
    if (verbs.length > 1) return `${verbs.join(" and ")} do not go together`;
    if (has(parsed, "--list") && operands.length > 0)
      return "patterns are not taken; leave them out and look through the list";
    if (has(parsed, "--delete") || has(parsed, "--delete-unmerged"))
      return operands.length === 0 ? "name the branch" : firstProblem(operands, nameProblem);
    if (has(parsed, "--move"))
      return operands.length === 0 || operands.length > 2
        ? "name the branch and its new name"
        : (firstProblem(operands, nameProblem) ?? newNameProblem(operands.at(-1) ?? ""));
    const upstream = lastValue(parsed, "--set-upstream-to");
    if (upstream !== undefined)
      return upstream.includes("/")
        ? firstProblem([upstream, ...operands], nameProblem)
        : "name the remote and its branch, as `origin/main`";
    if (operands.length > 2) return "name the new branch, and where it begins";
    const [name, start] = operands;
    return (
      (name === undefined ? undefined : newNameProblem(name)) ??
      (start === undefined ? undefined : revisionProblem(start)) ??
      filterProblem(parsed)
    );
  },
  touches({ parsed, repository }) {
    const { operands } = parsed;
    const verb = branchVerb(parsed);
    const isDeleting = has(parsed, "--delete") || has(parsed, "--delete-unmerged");
    if (!isDeleting && (verb === "list" || verb === ("show-current" as never) || verb === "--show-current"))
      return { refs: [readRef(repository, "HEAD")] };
    const force = has(parsed, "--force") || has(parsed, "--delete-unmerged") || verb === "--move";
    // With one name alone it is the current branch that gets it, and is gone under its own.
    const renamed =
      verb === "--move" && !isDeleting && operands.length === 1 ? [movedBranch(repository, { force })] : [];
    const named = (verb === "create" && !isDeleting ? operands.slice(0, 1) : operands).map((name) =>
      movedBranch(repository, { name, force }),
    );
    const [first, ...more] = [...renamed, ...named];
    if (verb === "create" && repository.kind === "found") repository.resolve("HEAD");
    const start =
      verb === "create" && !isDeleting ? operands.slice(1).map((revision) => readRef(repository, revision)) : [];
    return { refs: [first ?? movedBranch(repository, { force }), ...more, ...start] };
  },
  async run({ parsed, git, repository }) {
    const { operands } = parsed;
    const [name = "", start] = operands;
    const remove = (how: "-d" | "-D") =>
      changed(git.run("repository", ["branch", how, "--quiet", "--", ...operands]), `deleted ${operands.join(", ")}`);
    if (has(parsed, "--delete-unmerged")) return remove("-D");
    switch (branchVerb(parsed)) {
      case "--show-current":
        return { text: repository.branch ?? "", ...(repository.branch !== undefined && { branch: repository.branch }) };
      case "--delete":
        return remove("-d");
      case "--move":
        requireBranchName(operands.at(-1) ?? "", repository);
        return changed(git.run("settings", ["branch", "-m", "--", ...operands]), `renamed to ${operands.at(-1)}`);
      case "--set-upstream-to":
        return changed(
          git.run("settings", [
            "branch",
            "--quiet",
            `--set-upstream-to=${lastValue(parsed, "--set-upstream-to")}`,
            ...operands,
          ]),
          "the upstream is set",
        );
      case "--unset-upstream":
        return changed(git.run("settings", ["branch", "--unset-upstream", ...operands]), "the upstream is forgotten");
      case "create":
        requireBranchName(name, repository);
        return changed(
          git.run("repository", [
            "branch",
            "--quiet",
            "--no-track",
            ...(has(parsed, "--force") ? ["--force"] : []),
            "--",
            name,
            ...startOf(repository, start),
          ]),
          `made ${name}`,
        );
      default:
        return listBranches(git, parsed);
    }
  },
};

/** Where something new begins, by the commit that was judged. Where nothing is committed yet git says so. */
function startOf(repository: FoundRepository, start: string | undefined): readonly string[] {
  if (start === undefined && repository.resolve("HEAD") === undefined) return [];
  return [judgedCommit(repository, start ?? "HEAD")];
}

async function changed(change: Promise<unknown>, text: string): Promise<JsonObject> {
  await change;
  return { text };
}

const BRANCH_FIELDS = [
  "%(refname)",
  "%(objectname)",
  "%(HEAD)",
  "%(upstream)",
  "%(upstream:track,nobracket)",
  "%(contents:subject)",
] as const;

async function listBranches(git: Runner, parsed: Parsed): Promise<JsonObject> {
  const spaces = has(parsed, "--remotes")
    ? ["refs/remotes"]
    : has(parsed, "--all")
      ? ["refs/heads", "refs/remotes"]
      : ["refs/heads"];
  const branches = (await references(git, BRANCH_FIELDS, [...filters(parsed), ...spaces])).map(
    ([name = "", commit = "", head, upstream = "", track = "", subject = ""]) => {
      const [, ahead] = /ahead (\d+)/.exec(track) ?? [];
      const [, behind] = /behind (\d+)/.exec(track) ?? [];
      return {
        name: name.replace(/^refs\/(?:heads|remotes)\//, ""),
        commit,
        current: head === "*",
        ...(name.startsWith("refs/remotes/") && { remote: true }),
        ...(upstream !== "" && { upstream: upstream.replace(/^refs\/(?:heads|remotes)\//, "") }),
        ...(ahead !== undefined && { ahead: Number(ahead) }),
        ...(behind !== undefined && { behind: Number(behind) }),
        ...(track === "gone" && { upstream_gone: true }),
        subject,
      };
    },
  );
  const text = branches
    .map((one) => `${one.current ? "*" : " "} ${one.name} ${one.commit.slice(0, 12)} ${one.subject}`)
    .join("\n");
  return { text, branches };
}

/** Rows of fields; a reference's fields hold no null byte and no line break. */
async function references(
  git: Runner,
  fields: readonly string[],
  wanted: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const text = await git.run("nothing", ["for-each-ref", `--format=${fields.join("%00")}`, ...wanted]);
  return text.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\0")]));
}

/** TAG. */
export const tag: Operation = {
  usage: "TAG [--list] | [-m <message>] <new> [<commit>] | -d <tag>…",
  options: {
    ...QUIET,
    ...FILTER_OPTIONS,
    ...optionsOf("--list|-l --annotate|-a"),
    ...optionsOf("--message|-m", { takes: "text" }),
    ...optionsOf("--delete|-d --force|-f"),
  },
  check(parsed) {
    const { operands } = parsed;
    const parts = parsed.options.get("--message");
    if ((parsed.paths ?? []).length > 0) return "no paths are taken";
    if (has(parsed, "--list") && operands.length > 0)
      return "patterns are not taken; leave them out and look through the list";
    if (has(parsed, "--delete")) return operands.length === 0 ? "name the tag" : firstProblem(operands, nameProblem);
    if (operands.length > 2) return "name the new tag, and the commit that it names";
    if (has(parsed, "--annotate") && parts === undefined)
      return "give the message with -m; nobody can write one in an editor";
    const [name, target] = operands;
    return (
      (name === undefined ? undefined : newNameProblem(name)) ??
      (target === undefined ? undefined : revisionProblem(target)) ??
      (parts === undefined ? undefined : messageProblem(joinedMessage(parts))) ??
      filterProblem(parsed)
    );
  },
  touches({ parsed, repository }) {
    const [name, target] = parsed.operands;
    const head = readRef(repository, "HEAD");
    if (name === undefined) return { refs: [head] };
    const isDeleting = has(parsed, "--delete");
    const force = (isDeleting || has(parsed, "--force")) && { force: true as const };
    const tags = (isDeleting ? parsed.operands : [name]).map((one): Touched => {
      const commit = repository.kind === "found" ? repository.resolve(`refs/tags/${one}`) : undefined;
      return {
        ref: one,
        effect: "write",
        ...force,
        ...(commit !== undefined && { commit }),
        ...(isProtected(repository, one) && { protected: true as const }),
      };
    });
    return {
      refs: [
        ...tags,
        ...(isDeleting || target === undefined ? [] : [readRef(repository, target)]),
      ] as unknown as readonly [Touched, ...Touched[]],
    };
  },
  async run({ parsed, git, context, repository }) {
    const [name, target] = parsed.operands;
    if (name === undefined) {
      const rows = await references(
        git,
        ["%(refname)", "%(objectname)", "%(*objectname)", "%(contents:subject)"],
        [...filters(parsed), "refs/tags"],
      );
      const tags = rows.map(([ref = "", object = "", peeled = "", subject = ""]) => ({
        name: ref.replace(/^refs\/tags\//, ""),
        commit: peeled === "" ? object : peeled,
        ...(peeled !== "" && { annotated: true }),
        subject,
      }));
      return { text: tags.map((one) => one.name).join("\n"), tags };
    }
    if (has(parsed, "--delete"))
      return changed(
        git.run("repository", ["tag", "--delete", "--", ...parsed.operands]),
        `deleted ${parsed.operands.join(", ")}`,
      );
    const parts = parsed.options.get("--message");
    if (parts !== undefined) requireFit(joinedMessage(parts), context);
    const how = [
      ...(parts === undefined ? [] : ["--annotate", `--message=${joinedMessage(parts)}`]),
      ...(has(parsed, "--force") ? ["--force"] : []),
    ];
    return changed(
      git.run("repository", ["tag", "--no-sign", ...how, "--", name, ...startOf(repository, target)]),
      `made ${name}`,
    );
  },
};

/** REMOTE. */
export const remote: Operation = {
  usage:
    "REMOTE [-v] | get-url <name> | add <name> <https address> | set-url <name> <https address> | rename <old> <new> | remove <name>",
  options: optionsOf("--verbose -v", { idle: true }),
  check(parsed) {
    const [verb, name, last] = parsed.operands;
    if ((parsed.paths ?? []).length > 0) return "no paths are taken";
    if (verb === undefined) return undefined;
    const count = REMOTE_VERBS[verb];
    if (count === undefined)
      return `\`${verb.slice(0, 40)}\` is not taken; use one of ${Object.keys(REMOTE_VERBS).join(", ")}`;
    if (parsed.operands.length !== count) return `${verb} takes ${count - 1} argument${count === 2 ? "" : "s"}`;
    const problem = remoteProblem(name ?? "");
    if (problem !== undefined || last === undefined) return problem;
    return verb === "rename" ? remoteProblem(last) : addressProblem(last);
  },
  touches({ parsed, repository }) {
    const [verb, name = "", last = ""] = parsed.operands;
    if (verb === undefined || verb === "get-url")
      return { refs: [{ ...readRef(repository, "HEAD"), ...(name !== "" && { remote: name }) }] };
    const address = verb === "add" || verb === "set-url" ? last : "remotes";
    return { refs: [{ remote: name, ref: address, effect: "write", ...(verb !== "add" && { force: true as const }) }] };
  },
  async run({ parsed, git, repository }) {
    const [verb, name = "", last = ""] = parsed.operands;
    if (verb === undefined || verb === "get-url") {
      const remotes = Object.entries(repository.remotes)
        .filter(([known]) => verb === undefined || known === name)
        .map(([known, { url = "", pushUrl }]) => ({
          name: known,
          url,
          ...(pushUrl !== undefined && { push_url: pushUrl }),
        }));
      return { text: remotes.map((one) => `${one.name}\t${one.url}`).join("\n"), remotes };
    }
    const words =
      verb === "remove" || verb === "rm"
        ? ["remove", name]
        : [verb, ...(verb === "rename" ? ["--no-progress"] : []), name, last];
    return changed(git.run("settings", ["remote", ...words]), `${verb}: ${name}`);
  },
};

/** How many words each takes, itself counted. */
const REMOTE_VERBS: Readonly<Record<string, number>> = {
  "get-url": 2,
  add: 3,
  "set-url": 3,
  rename: 3,
  remove: 2,
  rm: 2,
};
