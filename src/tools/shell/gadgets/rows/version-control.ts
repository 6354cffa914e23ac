/**
 * Gadgets of version control. Its own `git` tools are judged elsewhere; here stands what a command line of them can
 * start.
 */
import { edits, type Gadget, leaves, starts } from "./gadget.ts";

/** Addresses that name a helper program: `ext::sh -c …`. */
const HELPER = /^(?:--\S+=)?[A-Za-z][\w+.-]*::/;

/**
 * What of the clients of forges only reads, or works on the clone: whatever else they are told may write to the forge.
 */
const FORGE_READS =
  /^(?:help|version|status|completion|co|api|search (?:code|commits|issues|prs|repos)|auth status|(?:pr|mr|issue|run|release|gist|label|workflow|repo|project|cache|secret|variable|ruleset|ci|org|ssh-key|gpg-key) (?:list|ls|view|diff|status|checks|checkout|watch|download|clone|check|get))(?: |$)/;

/** What of subversion reads, or works on the working copy, when it is given an address. */
const SVN_READS =
  /^(?:blame|praise|annotate|ann|cat|checkout|co|diff|di|export|help|info|list|ls|log|merge|mergeinfo|propget|pget|pg|proplist|plist|pl|relocate|status|stat|st|switch|sw|update|up)(?: |$)/;

/** Git, its kin, and the clients of forges. */
export const VERSION_CONTROL: readonly Gadget[] = [
  starts("git", "git(1)", {
    options:
      "--config-env --exec-path --upload-pack --receive-pack --exec --ext-diff --open-files-in-pager --extcmd --template --textconv --config --smtp-server --sendmail-cmd --to-cmd --cc-cmd --header-cmd --attributes-cmd --merge-tool",
  }),
  starts("git", "gitremote-helpers(7)", { words: HELPER, by: "an address such as ext::" }),
  edits("git", "git(1)", { options: "--edit-description --patch --interactive" }),
  starts(
    "git-shell git-upload-pack git-receive-pack git-upload-archive git-remote-ext git-remote-fd git-credential git-http-backend git-daemon git-cvsserver git-instaweb git-svn git-p4 git-annex git-lfs git-filter-repo git-absorb git-branchless git-town",
    "git(1)",
    { always: true },
  ),
  leaves("git", "git-push(1)", { verbs: "push, send-pack, http-push" }),
  starts("hg chg", "hg(1)", {
    options: "--config --debugger --ssh --remotecmd --tool --profile -e",
    verbs: "extdiff, histedit, email, serve, debugshell",
  }),
  // It takes verbs cut short: `pus` is `push`.
  leaves("hg chg sl", "hg(1)", { verbs: "push, pus", words: /^ssh:/, by: "ssh:" }),
  starts("hg chg", "hg(1)", { first: /^(?:alias|debug\w*|ext\w*|meld|kdiff3|opendiff)/, by: "a debug command" }),
  starts("svn svnlook svnadmin svnsync", "svn(1)", {
    options: "--diff-cmd --diff3-cmd --editor-cmd --config-option --config-dir -x",
    words: /^svn\+/,
    by: "a tunnel",
  }),
  leaves("svn", "svn(1)", { verbs: "commit, ci, import, lock, unlock", options: "--revprop" }),
  leaves("svn", "svn(1)", {
    words: /^(?:[a-z][\w+.-]*:\/\/|\^)/i,
    unlessVerb: SVN_READS,
    by: "with an address of a repository",
  }),
  leaves("svnmucc svnrdump svnsync", "svnmucc(1), svnsync(1)", { always: true, unless: "dump, info, help" }),
  starts("cvs", "cvs(1)", { options: "-e -d --rsh" }),
  leaves("cvs", "cvs(1)", { verbs: "commit, ci, com, import, rtag, tag, admin, remove" }),
  leaves("bzr brz", "bzr(1): commits go to the branch that a checkout is bound to", {
    verbs: "push, dpush, commit, ci, checkin, send, propose, land, lp-propose, register-branch",
  }),
  starts("bzr brz", "bzr(1)", { options: "--using -O --plugins", verbs: "shell, serve, diff --using" }),
  starts("darcs", "darcs(1)", {
    options: "--diff-command --external-merge --prehook --posthook --test --sendmail-command --edit-long-comment",
    verbs: "test, send, trackdown",
  }),
  leaves("darcs", "darcs(1)", { verbs: "push, put" }),
  leaves("fossil", "fossil(1): commits synchronise by themselves", {
    verbs: "push, sync, commit, ci, uv, unversioned, backup",
  }),
  starts("fossil", "fossil(1)", {
    options: "--ssh-command -c --command --editor",
    verbs: "ui, server, gdiff, sql, sqlite3, settings, http, all",
  }),
  starts("jj", "jj help", {
    options: "--config --config-toml --config-file --tool -i --interactive",
    verbs: "util exec, fix, run, config edit, config set, diffedit, split, resolve, describe --edit",
  }),
  leaves("jj", "jj help", { verbs: "git push, gerrit upload" }),
  leaves("pijul got repo", "each program's own manual", { verbs: "push, send, upload" }),
  starts("sl pijul got gitoxide gix stg topgit guilt repo tla monotone mtn", "each program's own manual", {
    options: "--config --tool -e --exec -c",
    verbs: "forall, shell, debugshell, selfupdate",
  }),
  starts("p4 p4v cm tf perforce", "p4(1)", {
    options: "-c --config --tool",
    verbs: "edit-spec, resolve, change, client, submit, diff",
  }),
  leaves("p4", "p4(1)", {
    always: true,
    unlessVerb:
      /^(?:$|(?:info|help|where|have|files|fstat|filelog|changes|describe|diff|diff2|print|annotate|grep|opened|status|dirs|branches|clients|users|depots|labels|sizes|set|sync)(?: |$))/,
  }),
  starts("rcs ci co quilt dpkg-source etckeeper vcsh mr myrepos gitwatch", "quilt(1), mr(1)", {
    verbs: "setup, run, exec, vcs, shell, edit, mail, foreach, do",
    options: "--quiltrc --trust-all --config -c",
  }),
  starts("gh", "gh(1)", {
    verbs: "extension, extensions, ext, alias, codespace, cs, copilot, config set, agent-task",
    options: "--editor --web -w",
  }),
  leaves("tea lab bb", "tea(1)", {
    always: true,
    unlessVerb:
      /^(?:$|(?:whoami|help|version)(?: |$)|(?:issues?|pulls?|prs?|mr|releases?|repos?|labels?|branches|ci) (?:list|ls|show|view)(?: |$))/,
  }),
  leaves("hub", "hub(1)", { verbs: "push, pull-request, create, delete, fork, release, issue, gist, sync, api, pr" }),
  starts("gh", "gh(1)", { verbs: "pr checkout, co", words: /^--$/, by: "with options for git behind --" }),
  leaves("gh glab", "gh(1), glab(1)", {
    always: true,
    unlessVerb: FORGE_READS,
    leading: "-R= --repo= --help --version",
  }),
  leaves("gh glab", "gh-api(1)", { options: "--method -X --field -F --raw-field -f --input" }),
  starts("glab hub tea lab bb", "glab(1), hub(1)", {
    verbs: "alias, config, duo, extension, ssh-key, browse, init",
    options: "--editor --web",
  }),
  starts("git-lfs git-crypt pre-commit lefthook overcommit", "pre-commit(1)", {
    verbs: "try-repo, custom, install, run, exec, unlock, hook-impl, -r, --sign",
    options: "-c --config",
  }),
];
