/**
 * Gadgets of version control. Its own `git` tools are judged elsewhere; here stands what a command line of them can
 * start.
 */
import type { Gadget } from "./gadget.ts";

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
  {
    of: "git",
    does: "starts",
    options:
      "--config-env --exec-path --upload-pack --receive-pack --exec --ext-diff --open-files-in-pager --extcmd --template --textconv --config --smtp-server --sendmail-cmd --to-cmd --cc-cmd --header-cmd --attributes-cmd --merge-tool",
    source: "git(1)",
  },
  { of: "git", does: "starts", words: HELPER, by: "an address such as ext::", source: "gitremote-helpers(7)" },
  { of: "git", does: "edits", options: "--edit-description --patch --interactive", source: "git(1)" },
  {
    of: "git-shell git-upload-pack git-receive-pack git-upload-archive git-remote-ext git-remote-fd git-credential git-http-backend git-daemon git-cvsserver git-instaweb git-svn git-p4 git-annex git-lfs git-filter-repo git-absorb git-branchless git-town",
    does: "starts",
    always: true,
    source: "git(1)",
  },
  {
    of: "git",
    does: "leaves",
    verbs: "push, send-pack, http-push",
    source: "git-push(1)",
  },
  {
    of: "hg chg",
    does: "starts",
    options: "--config --debugger --ssh --remotecmd --tool --profile -e",
    verbs: "extdiff, histedit, email, serve, debugshell",
    source: "hg(1)",
  },
  // It takes verbs cut short: `pus` is `push`.
  { of: "hg chg sl", does: "leaves", verbs: "push, pus", words: /^ssh:/, by: "ssh:", source: "hg(1)" },
  {
    of: "hg chg",
    does: "starts",
    first: /^(?:alias|debug\w*|ext\w*|meld|kdiff3|opendiff)/,
    by: "a debug command",
    source: "hg(1)",
  },
  {
    of: "svn svnlook svnadmin svnsync",
    does: "starts",
    options: "--diff-cmd --diff3-cmd --editor-cmd --config-option --config-dir -x",
    words: /^svn\+/,
    by: "a tunnel",
    source: "svn(1)",
  },
  { of: "svn", does: "leaves", verbs: "commit, ci, import, lock, unlock", options: "--revprop", source: "svn(1)" },
  {
    of: "svn",
    does: "leaves",
    words: /^(?:[a-z][\w+.-]*:\/\/|\^)/i,
    unlessVerb: SVN_READS,
    by: "with an address of a repository",
    source: "svn(1)",
  },
  {
    of: "svnmucc svnrdump svnsync",
    does: "leaves",
    always: true,
    unless: "dump, info, help",
    source: "svnmucc(1), svnsync(1)",
  },
  { of: "cvs", does: "starts", options: "-e -d --rsh", source: "cvs(1)" },
  { of: "cvs", does: "leaves", verbs: "commit, ci, com, import, rtag, tag, admin, remove", source: "cvs(1)" },
  {
    of: "bzr brz",
    does: "leaves",
    verbs: "push, dpush, commit, ci, checkin, send, propose, land, lp-propose, register-branch",
    source: "bzr(1): commits go to the branch that a checkout is bound to",
  },
  {
    of: "bzr brz",
    does: "starts",
    options: "--using -O --plugins",
    verbs: "shell, serve, diff --using",
    source: "bzr(1)",
  },
  {
    of: "darcs",
    does: "starts",
    options: "--diff-command --external-merge --prehook --posthook --test --sendmail-command --edit-long-comment",
    verbs: "test, send, trackdown",
    source: "darcs(1)",
  },
  { of: "darcs", does: "leaves", verbs: "push, put", source: "darcs(1)" },
  {
    of: "fossil",
    does: "leaves",
    verbs: "push, sync, commit, ci, uv, unversioned, backup",
    source: "fossil(1): commits synchronise by themselves",
  },
  {
    of: "fossil",
    does: "starts",
    options: "--ssh-command -c --command --editor",
    verbs: "ui, server, gdiff, sql, sqlite3, settings, http, all",
    source: "fossil(1)",
  },
  {
    of: "jj",
    does: "starts",
    options: "--config --config-toml --config-file --tool -i --interactive",
    verbs: "util exec, fix, run, config edit, config set, diffedit, split, resolve, describe --edit",
    source: "jj help",
  },
  { of: "jj", does: "leaves", verbs: "git push, gerrit upload", source: "jj help" },
  { of: "pijul got repo", does: "leaves", verbs: "push, send, upload", source: "each program's own manual" },
  {
    of: "sl pijul got gitoxide gix stg topgit guilt repo tla monotone mtn",
    does: "starts",
    options: "--config --tool -e --exec -c",
    verbs: "forall, shell, debugshell, selfupdate",
    source: "each program's own manual",
  },
  {
    of: "p4 p4v cm tf perforce",
    does: "starts",
    options: "-c --config --tool",
    verbs: "edit-spec, resolve, change, client, submit, diff",
    source: "p4(1)",
  },
  {
    of: "p4",
    does: "leaves",
    always: true,
    unlessVerb:
      /^(?:$|(?:info|help|where|have|files|fstat|filelog|changes|describe|diff|diff2|print|annotate|grep|opened|status|dirs|branches|clients|users|depots|labels|sizes|set|sync)(?: |$))/,
    source: "p4(1)",
  },
  {
    of: "rcs ci co quilt dpkg-source etckeeper vcsh mr myrepos gitwatch",
    does: "starts",
    verbs: "setup, run, exec, vcs, shell, edit, mail, foreach, do",
    options: "--quiltrc --trust-all --config -c",
    source: "quilt(1), mr(1)",
  },
  {
    of: "gh",
    does: "starts",
    verbs: "extension, extensions, ext, alias, codespace, cs, copilot, config set, agent-task",
    options: "--editor --web -w",
    source: "gh(1)",
  },
  {
    of: "tea lab bb",
    does: "leaves",
    always: true,
    unlessVerb:
      /^(?:$|(?:whoami|help|version)(?: |$)|(?:issues?|pulls?|prs?|mr|releases?|repos?|labels?|branches|ci) (?:list|ls|show|view)(?: |$))/,
    source: "tea(1)",
  },
  {
    of: "hub",
    does: "leaves",
    verbs: "push, pull-request, create, delete, fork, release, issue, gist, sync, api, pr",
    source: "hub(1)",
  },
  {
    of: "gh",
    does: "starts",
    verbs: "pr checkout, co",
    words: /^--$/,
    by: "with options for git behind --",
    source: "gh(1)",
  },
  {
    of: "gh glab",
    does: "leaves",
    always: true,
    unlessVerb: FORGE_READS,
    leading: "-R= --repo= --help --version",
    source: "gh(1), glab(1)",
  },
  {
    of: "gh glab",
    does: "leaves",
    options: "--method -X --field -F --raw-field -f --input",
    source: "gh-api(1)",
  },
  {
    of: "glab hub tea lab bb",
    does: "starts",
    verbs: "alias, config, duo, extension, ssh-key, browse, init",
    options: "--editor --web",
    source: "glab(1), hub(1)",
  },
  {
    of: "git-lfs git-crypt pre-commit lefthook overcommit",
    does: "starts",
    verbs: "try-repo, custom, install, run, exec, unlock, hook-impl, -r, --sign",
    options: "-c --config",
    source: "pre-commit(1)",
  },
];
