/** RESET: moves a branch, and unstages files. */
import { firstProblem, revisionProblem } from "../calls/names.ts";
import { has, optionsOf } from "../calls/options.ts";
import { judgedCommit } from "../calls/pinned.ts";
import { movedBranch, type Operation, readRef } from "./operation.ts";

import { pathsProblem, placed, QUIET, requireWritable, whereNow } from "./tree-operations.ts";

/** RESET. */
export const reset: Operation = {
  usage: "RESET [--soft | --mixed | --hard] [<commit>] | [--] <path>…",
  options: { ...QUIET, ...optionsOf("--soft --mixed --hard") },
  check(parsed) {
    const kinds = ["--soft", "--mixed", "--hard"].filter((name) => has(parsed, name));
    if (kinds.length > 1) return `${kinds.join(" and ")} do not go together`;
    if (kinds.length > 0 && (parsed.paths ?? []).length > 0)
      return "paths are unstaged without an option; CHECKOUT -- <path> restores files";
    if (parsed.operands.length > 1) return "one commit is taken; paths stand behind `--`";
    return firstProblem(parsed.operands, revisionProblem) ?? pathsProblem(parsed);
  },
  touches({ parsed, repository }) {
    const others = parsed.operands.map((revision) => readRef(repository, revision));
    const paths = (parsed.paths ?? []).map((path) => ({ path, effect: "write" as const }));
    const unstages = parsed.operands.length === 0 && !has(parsed, "--hard");
    if (unstages || paths.length > 0) return { refs: [{ ref: "index", effect: "write" }, ...others], paths };
    return { refs: [movedBranch(repository, { force: true }), ...others], paths };
  },
  async run(running) {
    const { parsed, git, repository } = running;
    const [target = "HEAD"] = parsed.operands;
    const commit = judgedCommit(repository, target);
    const paths = placed(running);
    if (paths.length > 0) {
      await requireWritable(git, ["--cached", commit, "--", ...paths]);
      await git.run("repository", ["reset", "--quiet", commit, "--", ...paths]);
      return { text: "unstaged" };
    }
    const kind = ["--soft", "--hard"].find((name) => has(parsed, name)) ?? "--mixed";
    await requireWritable(git, ["--cached", commit]);
    await git.run(kind === "--hard" ? "files" : "repository", [
      "reset",
      kind,
      "--quiet",
      "--no-recurse-submodules",
      commit,
      "--",
    ]);
    return whereNow(git);
  },
};
