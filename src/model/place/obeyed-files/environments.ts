/**
 * Files that shells, environment managers, containers and servers obey when a directory is entered, opened or served.
 */
import type { ObeyedFiles } from "./obeyed-file.ts";

/** Files that make environments. */
export const ENVIRONMENT_FILES: readonly ObeyedFiles[] = [
  {
    patterns: [
      ...[
        "mise.toml",
        "mise.local.toml",
        "mise.development.toml",
        "mise.production.toml",
        "mise.staging.toml",
        "mise.test.toml",
      ],
      ...[".mise*", ".rtx.toml", "**/mise/config.toml", "**/mise/conf.d"],
    ],
    reason: "mise sets variables, fetches tools and runs hooks from it when the directory is entered",
    source: "https://mise.jdx.dev/configuration.html",
  },
  {
    patterns: [".tool-versions"],
    reason:
      "asdf and mise run the tools that it names in place of the usual ones, also those at a `path:` in the workspace",
    source: "https://asdf-vm.com/manage/configuration.html",
  },
  {
    patterns: [".asdfrc"],
    reason: "asdf runs the hooks in it",
    source: "https://asdf-vm.com/manage/configuration.html",
  },
  {
    patterns: [".direnv", ".direnvrc", "direnv.toml"],
    reason: "direnv loads it as shell code when the directory is entered",
    source: "https://direnv.net/man/direnv.1.html",
  },
  {
    patterns: [".shadowenv.d"],
    reason: "Shadowenv sets variables from it when the directory is entered",
    source: "https://shopify.github.io/shadowenv",
  },
  {
    patterns: [".autoenv", ".autoenv.leave", ".autoenv.zsh", ".autoenv_leave.zsh"],
    reason: "autoenv runs it as shell code when the directory is entered",
    source: "https://github.com/hyperupcall/autoenv",
  },
  {
    patterns: [".prototools"],
    reason: "proto fetches the plug-ins and tools that it names",
    source: "https://moonrepo.dev/docs/proto/config",
  },
  {
    patterns: ["aqua.yaml", "aqua.yml", ".aqua.yaml", ".aqua.yml", ".aqua"],
    reason: "aqua fetches and runs the tools that it names",
    source: "https://aquaproj.github.io/docs/reference/config",
  },
  {
    patterns: [".rvmrc"],
    reason: "RVM runs it as shell code when the directory is entered",
    source: "https://rvm.io/workflow/projects",
  },
  {
    patterns: [".rbenv-vars", ".powrc", ".powenv", ".pumaenv"],
    reason: "it is loaded as variables or shell code with every Ruby program of the directory",
    source: "https://github.com/rbenv/rbenv-vars",
  },
  {
    patterns: [".fvm"],
    reason: "editors run the Flutter SDK that it leads to",
    source: "https://fvm.app/documentation/getting-started/configuration",
  },
  {
    patterns: [".config"],
    reason: "tools such as dotnet, mise, lefthook and Neovim take their settings from it",
    source: "https://specifications.freedesktop.org/basedir-spec/latest",
  },
  {
    patterns: [".devcontainer", ".devcontainer.json", "devcontainer.json"],
    reason:
      "editors build the container and run the commands in it, some on the machine itself, when the directory is opened",
    source: "https://containers.dev/implementors/json_reference",
  },
  {
    patterns: [".gitpod.yml", ".gitpod.Dockerfile", ".gitpod", ".ona"],
    reason: "Gitpod builds the environment and runs its tasks when it is opened",
    source: "https://www.gitpod.io/docs/references/gitpod-yml",
  },
  {
    patterns: [".codesandbox", "sandbox.config.json"],
    reason: "CodeSandbox runs its tasks when the directory is opened",
    source: "https://codesandbox.io/docs/learn/repositories/task",
  },
  {
    patterns: [".replit", "replit.nix", "replit.md"],
    reason: "Replit builds and runs what it says, and its agent reads it as instructions",
    source: "https://docs.replit.com/replit-app/configuration",
  },
  {
    patterns: ["devfile.yaml", ".devfile.yaml", ".che"],
    reason: "Eclipse Che builds the environment and runs its commands when it is opened",
    source: "https://devfile.io/docs",
  },
  {
    patterns: [
      ...[".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases"],
      ...[
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".zlogout",
        ".kshrc",
        ".mkshrc",
        ".cshrc",
        ".tcshrc",
        ".login",
        ".inputrc",
      ],
      ...[".xprofile", ".xinitrc", ".xsession", ".xsessionrc"],
    ],
    reason: "a shell or a session runs it at start where the directory is a home, or a link from one leads here",
    source: "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html",
  },
  {
    patterns: [
      ...[".ssh", ".netrc", "_netrc", ".curlrc", ".wgetrc", ".tmux.conf", ".screenrc"],
      ...["**/.docker/config.json", "**/.kube/config", "**/.aws/config", "**/.aws/credentials"],
    ],
    reason:
      "a program of the person takes servers, credentials or commands from it where the directory is a home, or a link from one leads here",
    source: "https://man.openbsd.org/ssh_config",
  },
  {
    patterns: [".Rprofile", ".Renviron", ".RData"],
    reason: "R runs or loads it when it starts in the directory",
    source: "https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html",
  },
  {
    patterns: [".irbrc", ".pryrc"],
    reason: "Ruby's consoles run it when they start in the directory",
    source: "https://docs.ruby-lang.org/en/master/IRB.html",
  },
  {
    patterns: [".iex.exs"],
    reason: "IEx runs it when it starts in the directory",
    source: "https://hexdocs.pm/iex/IEx.html",
  },
  {
    patterns: [".ghci"],
    reason: "GHCi runs it when it starts in the directory",
    source: "https://downloads.haskell.org/ghc/latest/docs/users_guide/ghci.html",
  },
  {
    patterns: [".ocamlinit"],
    reason: "OCaml's console runs it when it starts in the directory",
    source: "https://ocaml.org/manual/latest/toplevel.html",
  },
  {
    patterns: [".octaverc"],
    reason: "Octave runs it when it starts in the directory",
    source: "https://docs.octave.org/latest/Startup-Files.html",
  },
  {
    patterns: [".gdbinit", ".gdbearlyinit", ".lldbinit", ".pdbrc", ".perldb"],
    reason: "a debugger runs it when it starts in the directory",
    source: "https://sourceware.org/gdb/current/onlinedocs/gdb.html/Init-File-in-the-Current-Directory.html",
  },
  {
    patterns: [
      ".jupyter",
      "jupyter_config.py",
      "jupyter_notebook_config.py",
      "jupyter_server_config.py",
      "jupyter_lab_config.py",
      "ipython_config.py",
    ],
    reason: "Jupyter and IPython run it when they start in the directory",
    source: "https://docs.jupyter.org/en/latest/use/config.html",
  },
  {
    patterns: [".htaccess", ".user.ini", "web.config"],
    reason: "a web server obeys it as soon as it is written, and PHP loads the programs that it names",
    source: "https://httpd.apache.org/docs/current/howto/htaccess.html",
  },
];
