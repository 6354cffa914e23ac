/** Files that version control and its hooks obey: when something is looked at, committed, merged or pushed. */
import { REPOSITORY_HEAD } from "../repository-shape.ts";
import type { ObeyedFiles } from "./obeyed-file.ts";

/** Files of version control. */
export const VERSION_CONTROL_FILES: readonly ObeyedFiles[] = [
  {
    patterns: [REPOSITORY_HEAD],
    isExact: true,
    reason:
      "git takes a directory with it, `objects` and `refs` for a repository, and runs the programs that the `config` in it names",
    source: "https://git-scm.com/docs/gitrepository-layout",
  },
  {
    patterns: [".gitattributes"],
    reason:
      "git passes files through the filters, diff and merge programs that it assigns, and hides changes from diffs",
    source: "https://git-scm.com/docs/gitattributes",
  },
  {
    patterns: [".gitmodules"],
    reason: "git fetches other repositories from where it says, with their own configuration",
    source: "https://git-scm.com/docs/gitmodules",
  },
  {
    patterns: [".gitconfig"],
    reason: "git runs the programs that it names where it is included, or the directory is a home",
    source: "https://git-scm.com/docs/git-config",
  },
  {
    patterns: [".lfsconfig"],
    reason: "Git LFS sends and fetches large files where it says",
    source: "https://github.com/git-lfs/git-lfs/blob/main/docs/man/git-lfs-config.adoc",
  },
  {
    patterns: [".gitreview"],
    reason: "git-review pushes changes to the server that it names",
    source: "https://docs.opendev.org/opendev/git-review/latest",
  },
  {
    patterns: [".hg", ".hgrc"],
    reason: "Mercurial runs the hooks, extensions and aliases that its `hgrc` names, with every command",
    source: "https://www.mercurial-scm.org/help/topics/config",
  },
  {
    patterns: [".sl"],
    reason: "Sapling runs the hooks and extensions that its configuration names",
    source: "https://sapling-scm.com/docs/introduction",
  },
  {
    patterns: [".jj"],
    reason: "Jujutsu runs the tools that its configuration names, with every command",
    source: "https://jj-vcs.github.io/jj/latest/config",
  },
  {
    patterns: [".bzr"],
    reason: "Breezy follows its branch configuration with every command",
    source: "https://www.breezy-vcs.org/doc/en/user-reference/configuration-help.html",
  },
  {
    patterns: [".svn"],
    reason: "the working copy's administration says which server and which transport program is used",
    source: "https://svnbook.red-bean.com/en/1.7/svn.developer.insidewc.html",
  },
  { patterns: ["_darcs"], reason: "Darcs runs the hooks in its preferences", source: "https://darcs.net/Using/Hooks" },
  { patterns: [".pijul"], reason: "Pijul runs the hooks in its configuration", source: "https://pijul.org/manual" },
  {
    patterns: [".fslckout", "_FOSSIL_", ".fossil-settings"],
    reason: "Fossil runs the programs that its settings name",
    source: "https://fossil-scm.org/home/doc/trunk/www/settings.wiki",
  },
  {
    patterns: [".repo"],
    reason: "Android's repo runs the program that lies in it",
    source: "https://gerrit.googlesource.com/git-repo/+/HEAD/docs/internal-fs-layout.md",
  },
  {
    patterns: [".p4config", "p4config.txt"],
    reason: "Perforce takes its server and programs from it",
    source: "https://www.perforce.com/manuals/cmdref/Content/CmdRef/P4CONFIG.html",
  },
  {
    patterns: [".arcconfig"],
    reason: "Arcanist loads the PHP libraries that it names",
    source: "https://secure.phabricator.com/book/phabricator/article/arcanist_new_project",
  },
  {
    patterns: [".reviewboardrc"],
    reason: "RBTools run it as a Python program",
    source: "https://www.reviewboard.org/docs/rbtools/latest/rbt/configuration",
  },
  {
    patterns: [".husky", ".huskyrc", ".huskyrc.json", ".huskyrc.js", ".huskyrc.yaml", ".huskyrc.yml"],
    reason: "git runs the hooks in it when something is committed or pushed",
    source: "https://typicode.github.io/husky",
  },
  {
    patterns: [".githooks", ".git-hooks"],
    reason: "by custom `core.hooksPath` names it, and git runs the hooks in it",
    source: "https://git-scm.com/docs/githooks",
  },
  {
    patterns: [
      ...["lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", "lefthook.jsonc", ".lefthook*"],
      ...["lefthook-local.yml", "lefthook-local.yaml", "lefthook-local.toml", "lefthook-local.json"],
    ],
    reason: "Lefthook runs its commands when something is committed or pushed",
    source: "https://lefthook.dev/configuration",
  },
  {
    patterns: [".pre-commit-config.yaml", ".pre-commit-config.yml", ".pre-commit-hooks.yaml", "prek.toml"],
    reason: "pre-commit fetches and runs the hooks that it names when something is committed",
    source: "https://pre-commit.com/#plugins",
  },
  {
    patterns: [
      ...[".lintstagedrc", ".lintstagedrc.json", ".lintstagedrc.yaml", ".lintstagedrc.yml"],
      ...[
        ".lintstagedrc.js",
        ".lintstagedrc.mjs",
        ".lintstagedrc.cjs",
        ".lintstagedrc.ts",
        ".lintstagedrc.mts",
        ".lintstagedrc.cts",
      ],
      ...["lint-staged.config.js", "lint-staged.config.mjs", "lint-staged.config.cjs"],
      ...["lint-staged.config.ts", "lint-staged.config.mts", "lint-staged.config.cts"],
    ],
    reason: "lint-staged runs its commands when something is committed",
    source: "https://github.com/lint-staged/lint-staged#configuration",
  },
  {
    patterns: [
      ...[
        ".commitlintrc",
        ".commitlintrc.json",
        ".commitlintrc.yaml",
        ".commitlintrc.yml",
        ".commitlintrc.js",
        ".commitlintrc.cjs",
      ],
      ...[".commitlintrc.mjs", ".commitlintrc.ts", ".commitlintrc.cts"],
      ...[
        "commitlint.config.js",
        "commitlint.config.cjs",
        "commitlint.config.mjs",
        "commitlint.config.ts",
        "commitlint.config.cts",
      ],
    ],
    reason: "commitlint runs it as a program when something is committed",
    source: "https://commitlint.js.org/reference/configuration.html",
  },
  {
    patterns: [".gitlint"],
    reason: "gitlint loads the Python rules that it names when something is committed",
    source: "https://jorisroovers.com/gitlint/latest/configuration",
  },
  {
    patterns: [".overcommit.yml", ".local-overcommit.yml"],
    reason: "Overcommit runs the hooks that it names",
    source: "https://github.com/sds/overcommit#configuration",
  },
  {
    patterns: ["captainhook.json"],
    reason: "CaptainHook runs its commands when something is committed",
    source: "https://docs.captainhook.info/configure.html",
  },
  {
    patterns: ["grumphp.yml", "grumphp.yml.dist", "grumphp.yaml"],
    reason: "GrumPHP runs its tasks when something is committed",
    source: "https://github.com/phpro/grumphp#configuration",
  },
  {
    patterns: [
      ...[".simple-git-hooks.js", ".simple-git-hooks.cjs", ".simple-git-hooks.json"],
      ...["simple-git-hooks.js", "simple-git-hooks.cjs", "simple-git-hooks.json"],
    ],
    reason: "simple-git-hooks installs its commands as hooks",
    source: "https://github.com/toplenboren/simple-git-hooks",
  },
  {
    patterns: ["hk.pkl", ".hk"],
    reason: "hk runs its steps when something is committed or pushed",
    source: "https://hk.jdx.dev/configuration.html",
  },
  {
    patterns: [".rusty-hook.toml", ".cargo-husky"],
    reason: "git runs the hooks in it when something is committed",
    source: "https://github.com/rhysd/cargo-husky",
  },
];
