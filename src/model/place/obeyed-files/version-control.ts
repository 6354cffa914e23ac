/** Files that version control and its hooks obey: when something is looked at, committed, merged or pushed. */
import { REPOSITORY_HEAD } from "../repository-shape.ts";
import { obeyedFiles } from "./obeyed-file.ts";

const COMMITIZEN = [
  ".czrc .cz.json cz.json .cz.toml cz.toml .cz.yaml cz.yaml .cz-config.js .cz-config.cjs cz.config.js",
  "changelog.config.js",
].join(" ");
const LEFTHOOK = [
  "lefthook.yml lefthook.yaml lefthook.toml lefthook.json lefthook.jsonc .lefthook* lefthook-local.yml",
  "lefthook-local.yaml lefthook-local.toml lefthook-local.json",
].join(" ");
const LINT_STAGED = [
  ".lintstagedrc .lintstagedrc.json .lintstagedrc.yaml .lintstagedrc.yml .lintstagedrc.js .lintstagedrc.mjs",
  ".lintstagedrc.cjs .lintstagedrc.ts .lintstagedrc.mts .lintstagedrc.cts lint-staged.config.js",
  "lint-staged.config.mjs lint-staged.config.cjs lint-staged.config.ts lint-staged.config.mts",
  "lint-staged.config.cts",
].join(" ");
const COMMITLINT = [
  ".commitlintrc .commitlintrc.json .commitlintrc.yaml .commitlintrc.yml .commitlintrc.js .commitlintrc.cjs",
  ".commitlintrc.mjs .commitlintrc.ts .commitlintrc.cts commitlint.config.js commitlint.config.cjs",
  "commitlint.config.mjs commitlint.config.ts commitlint.config.cts",
].join(" ");
const SIMPLE_GIT_HOOKS = [
  ".simple-git-hooks.js .simple-git-hooks.cjs .simple-git-hooks.json simple-git-hooks.js simple-git-hooks.cjs",
  "simple-git-hooks.json",
].join(" ");

/** Files of version control. */
export const VERSION_CONTROL_FILES = obeyedFiles({
  "https://git-scm.com/docs/gitrepository-layout": {
    [REPOSITORY_HEAD]: {
      reason:
        "git takes a directory with it, `objects` and `refs` for a repository, and runs the programs that the `config` in it names",
      isExact: true,
    },
  },
  "https://git-scm.com/docs/gitattributes": {
    ".gitattributes":
      "git passes files through the filters, diff and merge programs that it assigns, and hides changes from diffs",
  },
  "https://git-scm.com/docs/gitmodules": {
    ".gitmodules": "git fetches other repositories from where it says, with their own configuration",
  },
  "https://git-scm.com/docs/git-config": {
    ".gitconfig": "git runs the programs that it names where it is included, or the directory is a home",
  },
  "https://github.com/git-lfs/git-lfs/blob/main/docs/man/git-lfs-config.adoc": {
    ".lfsconfig": "Git LFS sends and fetches large files where it says",
  },
  "https://docs.opendev.org/opendev/git-review/latest": {
    ".gitreview": "git-review pushes changes to the server that it names",
  },
  "https://www.mercurial-scm.org/help/topics/config": {
    ".hg .hgrc": "Mercurial runs the hooks, extensions and aliases that its `hgrc` names, with every command",
  },
  "https://sapling-scm.com/docs/introduction": {
    ".sl": "Sapling runs the hooks and extensions that its configuration names",
  },
  "https://jj-vcs.github.io/jj/latest/config": {
    ".jj": "Jujutsu runs the tools that its configuration names, with every command",
  },
  "https://www.breezy-vcs.org/doc/en/user-reference/configuration-help.html": {
    ".bzr": "Breezy follows its branch configuration with every command",
  },
  "https://svnbook.red-bean.com/en/1.7/svn.developer.insidewc.html": {
    ".svn": "the working copy's administration says which server and which transport program is used",
  },
  "https://www.gnu.org/software/trans-coord/manual/cvs/cvs.html": {
    CVS: {
      reason: "the working copy's administration says which server and which transport program is used",
      isExact: true,
    },
  },
  "https://docs.trunk.io/references/trunk.yaml": {
    ".trunk": "Trunk runs the actions and tools that it names, by hooks of git and when files change",
  },
  "https://darcs.net/Using/Hooks": { _darcs: "Darcs runs the hooks in its preferences" },
  "https://pijul.org/manual": { ".pijul": "Pijul runs the hooks in its configuration" },
  "https://fossil-scm.org/home/doc/trunk/www/settings.wiki": {
    ".fslckout _FOSSIL_ .fossil-settings": "Fossil runs the programs that its settings name",
  },
  "https://gerrit.googlesource.com/git-repo/+/HEAD/docs/internal-fs-layout.md": {
    ".repo": "Android's repo runs the program that lies in it",
  },
  "https://www.perforce.com/manuals/cmdref/Content/CmdRef/P4CONFIG.html": {
    ".p4config p4config.txt": "Perforce takes its server and programs from it",
  },
  "https://secure.phabricator.com/book/phabricator/article/arcanist_new_project": {
    ".arcconfig": "Arcanist loads the PHP libraries that it names",
  },
  "https://www.reviewboard.org/docs/rbtools/latest/rbt/configuration": {
    ".reviewboardrc": "RBTools run it as a Python program",
  },
  "https://typicode.github.io/husky": {
    ".husky .huskyrc .huskyrc.json .huskyrc.js .huskyrc.yaml .huskyrc.yml":
      "git runs the hooks in it when something is committed or pushed",
  },
  "https://git-scm.com/docs/githooks": {
    ".githooks .git-hooks": "by custom `core.hooksPath` names it, and git runs the hooks in it",
  },
  "https://lefthook.dev/configuration": {
    [LEFTHOOK]: "Lefthook runs its commands when something is committed or pushed",
  },
  "https://pre-commit.com/#plugins": {
    ".pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml prek.toml":
      "pre-commit fetches and runs the hooks that it names when something is committed",
  },
  "https://github.com/lint-staged/lint-staged#configuration": {
    [LINT_STAGED]: "lint-staged runs its commands when something is committed",
  },
  "https://commitlint.js.org/reference/configuration.html": {
    [COMMITLINT]: "commitlint runs it as a program when something is committed",
  },
  "https://commitizen.github.io/cz-cli": {
    [COMMITIZEN]: "Commitizen loads the adapter or plug-in that it names when something is committed",
  },
  "https://moonrepo.dev/docs/guides/vcs-hooks": {
    ".moon": "moon installs the commands in it as hooks, which git runs when something is committed",
  },
  "https://jorisroovers.com/gitlint/latest/configuration": {
    ".gitlint": "gitlint loads the Python rules that it names when something is committed",
  },
  "https://github.com/sds/overcommit#configuration": {
    ".overcommit.yml .local-overcommit.yml": "Overcommit runs the hooks that it names",
  },
  "https://docs.captainhook.info/configure.html": {
    "captainhook.json": "CaptainHook runs its commands when something is committed",
  },
  "https://github.com/phpro/grumphp#configuration": {
    "grumphp.yml grumphp.yml.dist grumphp.yaml": "GrumPHP runs its tasks when something is committed",
  },
  "https://github.com/toplenboren/simple-git-hooks": {
    [SIMPLE_GIT_HOOKS]: "simple-git-hooks installs its commands as hooks",
  },
  "https://hk.jdx.dev/configuration.html": { "hk.pkl .hk": "hk runs its steps when something is committed or pushed" },
  "https://github.com/rhysd/cargo-husky": {
    ".rusty-hook.toml .cargo-husky": "git runs the hooks in it when something is committed",
  },
});
