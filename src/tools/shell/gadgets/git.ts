/**
 * Gadgets of `git`, whose options mean something else before and after its verb.
 *
 * INVARIANT: a verb that is not known here is an alias or a program of that name, and so may start anything.
 */
import type { ShellWord } from "../words/words.ts";
import type { FoundGadget } from "./find-gadgets.ts";
import { givesOption } from "./options.ts";
import { DEEDS } from "./rows/gadget.ts";

/** Verbs of git's own that start nothing by what they are told. Source: git(1). */
const PLAIN_VERBS = new Set(
  (
    "add am annotate apply archive blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout " +
    "checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree count-objects describe diff diff-files " +
    "diff-index diff-pairs diff-tree fast-export fast-import fetch fetch-pack fmt-merge-msg for-each-ref format-patch fsck gc " +
    "get-tar-commit-id grep hash-object help index-pack init init-db interpret-trailers log last-modified ls-files ls-remote ls-tree " +
    "mailinfo mailsplit merge merge-base merge-file merge-index merge-tree mktag mktree multi-pack-index mv name-rev notes pack-objects " +
    "pack-redundant pack-refs patch-id prune prune-packed pull push range-diff read-tree rebase reflog refs remote repack replace " +
    "replay request-pull rerere reset restore rev-list rev-parse revert rm send-pack shortlog show show-branch show-index show-ref " +
    "sparse-checkout stash status stripspace switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info " +
    "var verify-commit verify-pack verify-tag version whatchanged worktree write-tree backfill diagnose bugreport http-fetch http-push config"
  ).split(" "),
);

/** Options before the verb that take the next word. */
const TAKES_NEXT = new Set("-C --git-dir --work-tree --namespace --super-prefix --attr-source --list-cmds".split(" "));

/** By verb: options that name a program, or set one. */
const VERB_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  add: ["-p", "-i", "-e", "--edit"],
  clone: ["-c", "-u", "--config", "--upload-pack", "--template"],
  init: ["--template"],
  rebase: ["-x", "--exec", "-i", "--interactive", "--edit-todo"],
  grep: ["-O", "--open-files-in-pager"],
  "ls-remote": ["--exec", "--upload-pack"],
  fetch: ["--upload-pack"],
  archive: ["--exec", "--remote"],
  config: ["-e", "--edit"],
  help: ["-w", "--web", "-i", "--info"],
  "merge-index": ["-o", "-q", "-a"],
};

/** Settings that name a program, or what a verb stands for. */
const SETTING =
  /^(?:--\S+=)?(?:alias\.|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|alternaterefscommand|worktree)|pager\.|sequence\.editor|(?:diff|difftool|merge|mergetool|filter|browser|man|gpg|credential|remote|tar|uploadpack|trailer|sendemail|guitool|instaweb|include|includeif|url|protocol|submodule|init|interactive|http|hook|maintenance)\b)/i;

/** What `git` does beyond its own, and which part of the call makes it do so. */
export function gitGadgets(name: string, args: readonly ShellWord[]): readonly FoundGadget[] {
  if (name !== "git") return [];
  let at = 0;
  for (; args[at]?.text.startsWith("-") === true; at += 1) {
    const { text } = args[at] as ShellWord;
    if (text.startsWith("-c")) return [starts("git -c")];
    if (TAKES_NEXT.has(text)) at += 1;
  }
  const verb = args[at];
  if (verb === undefined || !verb.known) return [];
  if (!PLAIN_VERBS.has(verb.text)) return [starts("git with a verb that may be an alias or a program")];
  const rest = args.slice(at + 1);
  const options = Object.hasOwn(VERB_OPTIONS, verb.text) ? (VERB_OPTIONS[verb.text] ?? []) : [];
  const option = options.find((one) => rest.some(({ text }) => givesOption(text, one)));
  if (option !== undefined) return [starts(`git ${verb.text} ${option}`)];
  if (verb.text === "config" && setsProgram(rest)) return [starts("git config with a setting that names a program")];
  return [];
}

/** Reading a setting takes one word, or says so. */
function setsProgram(rest: readonly ShellWord[]): boolean {
  if (rest.some(({ text }) => /^(?:--get|--list|-l$|--unset|get$|list$|unset$)/.test(text))) return false;
  const words = rest.filter(({ text }) => !text.startsWith("-"));
  return words.length > 1 && words.some(({ text, known }) => !known || SETTING.test(text));
}

function starts(by: string): FoundGadget {
  return { danger: DEEDS.starts.danger, reason: `\`${by}\` ${DEEDS.starts.says} (git(1))` };
}
