/** STASH: changes that are put aside and brought back. */
import type { JsonObject } from "../../../base/json.ts";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import { displayArguments, listChanges } from "../calls/display.ts";
import { messageProblem, requireFit } from "../calls/message.ts";
import { has, lastValue, optionsOf, type Parsed } from "../calls/options.ts";
import { pinned, requireObject } from "../calls/pinned.ts";
import { leftOutFacts } from "../calls/runner.ts";
import { type Operation, type Running, readRef } from "./operation.ts";
import { differing, ended, pathsProblem, placed, QUIET, replaced } from "./tree-operations.ts";

const STASHES = ["push", "list", "show", "pop", "apply", "drop"] as const;
const STASH = /^stash@\{\d{1,4}\}$/;

function stashOf({ operands: [verb = "push", entry = "stash@{0}"] }: Parsed): {
  readonly verb: string;
  readonly entry: string;
} {
  return { verb, entry: /^\d{1,4}$/.test(entry) ? `stash@{${entry}}` : entry };
}

/** STASH. */
export const stash: Operation = {
  usage: "STASH [push [-m <message>] [-- <path>…]] | list | show|pop|apply|drop [stash@{n}]",
  options: { ...QUIET, ...optionsOf("--message|-m", { takes: "text" }), ...optionsOf("--patch -p", { idle: true }) },
  check(parsed) {
    const { verb, entry } = stashOf(parsed);
    if (!STASHES.some((known) => known === verb))
      return `\`${verb.slice(0, 40)}\` is not taken; use one of ${STASHES.join(", ")}`;
    if (parsed.operands.length > 2 || (verb === "push" && parsed.operands.length > 1) || !STASH.test(entry))
      return "name a stash as `stash@{0}`";
    if (verb !== "push" && (has(parsed, "--message") || (parsed.paths ?? []).length > 0))
      return "a message and paths go with push";
    const message = lastValue(parsed, "--message");
    return (message === undefined ? undefined : messageProblem(message)) ?? pathsProblem(parsed);
  },
  touches({ parsed, repository }) {
    const { verb, entry } = stashOf(parsed);
    if (verb === "list" || verb === "show") return { refs: [{ ...readRef(repository, "HEAD"), ref: entry }] };
    const { commit } = readRef(repository, entry);
    const message = repository.kind === "found" ? repository.noteOf(entry) : undefined;
    const what = verb !== "push" && {
      ...(commit !== undefined && { commit }),
      ...(message !== undefined && { message }),
    };
    return {
      refs: [{ ref: entry, effect: "write", ...what, ...(verb === "drop" && { force: true as const }) }],
      paths: replaced(parsed.paths),
    };
  },
  run: runStash,
};

async function runStash(running: Running): Promise<JsonObject> {
  const { parsed, git, context, repository } = running;
  const { verb, entry } = stashOf(parsed);
  // Of a lock that it meets on the way git says nothing here.
  if (repository.state.locked && verb !== "list" && verb !== "show")
    throw new FailureWithoutEffect(
      "RESOURCE_BUSY",
      "another git is at work (`.git/index.lock`)",
      "if none is, ask a person to remove the lock",
    );
  switch (verb) {
    case "list": {
      const fields = await git.fields(["stash", "list", "-z", "--format=%gd%x00%H%x00%s"]);
      const stashes = [];
      for (let at = 0; at + 3 <= fields.length; at += 3)
        stashes.push({ name: fields[at] ?? "", commit: fields[at + 1] ?? "", subject: fields[at + 2] ?? "" });
      return { text: stashes.map(({ name, subject }) => `${name}: ${subject}`).join("\n"), stashes };
    }
    case "show": {
      const [commit = ""] = await pinned(git, [entry]);
      const question = ["diff", `${commit}^1`, commit] as const;
      const { files, closed, paths } = await listChanges(git, question, []);
      const text =
        files.length === 0
          ? ""
          : await git.run("nothing", ["diff", ...displayArguments(parsed), ...question.slice(1), "--", ...paths]);
      return { text, files: [...files], ...leftOutFacts(closed) };
    }
    case "push": {
      const paths = placed(running);
      const message = lastValue(parsed, "--message");
      const count = (await differing(git, ["HEAD", "--", ...paths])).length;
      if (message !== undefined) requireFit(message, context);
      await git.run("files", [
        "stash",
        "push",
        "--quiet",
        ...(message === undefined ? [] : [`--message=${message}`]),
        "--",
        ...paths,
      ]);
      return {
        text:
          count === 0
            ? "there was nothing to put aside"
            : `put aside changes of ${count} file${count === 1 ? "" : "s"}`,
        count,
      };
    }
    case "drop":
      requireObject(repository, entry);
      await git.run("repository", ["stash", "drop", "--quiet", entry]);
      return { text: `dropped ${entry}` };
    default: {
      const commit = requireObject(repository, entry);
      // One that goes has to be named by its number; whether it is still that commit is looked at before it lands.
      const named = verb === "apply" ? commit : entry;
      return ended(git, await git.try("files", ["stash", verb, "--quiet", named]), `stash ${verb}`);
    }
  }
}
