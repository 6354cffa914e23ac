/**
 * Files that shells, environment managers, containers and servers obey when a directory is entered, opened or served.
 */
import { obeyedFiles } from "./obeyed-file.ts";

const MISE = [
  "mise.toml mise.local.toml mise.development.toml mise.production.toml mise.staging.toml mise.test.toml .mise*",
  ".rtx.toml **/mise/config.toml **/mise/conf.d",
].join(" ");
const SHELLS = [
  ".profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc .zshenv .zprofile .zlogin",
  ".zlogout .kshrc .mkshrc .cshrc .tcshrc .login .inputrc .xprofile .xinitrc .xsession .xsessionrc",
].join(" ");
const HOMES = [
  ".ssh .netrc _netrc .curlrc .wgetrc .tmux.conf .screenrc **/.docker/config.json **/.kube/config **/.aws/config",
  "**/.aws/credentials",
].join(" ");
const JUPYTER = [
  ".jupyter jupyter_config.py jupyter_notebook_config.py jupyter_server_config.py jupyter_lab_config.py",
  "ipython_config.py jupyter_nbconvert_config.py jupyter_nbconvert_config.json jupyter_console_config.py",
  "jupyter_console_config.json",
].join(" ");

/** Files that make environments. */
export const ENVIRONMENT_FILES = obeyedFiles({
  "https://mise.jdx.dev/configuration.html": {
    [MISE]: "mise sets variables, fetches tools and runs hooks from it when the directory is entered",
  },
  "https://asdf-vm.com/manage/configuration.html": {
    ".tool-versions":
      "asdf and mise run the tools that it names in place of the usual ones, also those at a `path:` in the workspace",
    ".asdfrc": "asdf runs the hooks in it",
  },
  "https://direnv.net/man/direnv.1.html": {
    ".direnv .direnvrc direnv.toml": "direnv loads it as shell code when the directory is entered",
  },
  "https://shopify.github.io/shadowenv": {
    ".shadowenv.d": "Shadowenv sets variables from it when the directory is entered",
  },
  "https://github.com/hyperupcall/autoenv": {
    ".autoenv .autoenv.leave .autoenv.zsh .autoenv_leave.zsh":
      "autoenv runs it as shell code when the directory is entered",
  },
  "https://www.jetify.com/docs/devbox/configuration": {
    "devbox.json":
      "Devbox, by direnv or an editor too, fetches its packages and runs its hook when the directory is entered",
  },
  "https://devenv.sh/automatic-shell-activation": {
    "devenv.nix devenv.yaml devenv.local.nix":
      "devenv makes an environment of it and runs its hooks when the directory is entered",
  },
  "https://nix.dev/guides/recipes/direnv": {
    "flake.nix shell.nix":
      "Nix makes an environment of it, and runs its hook, when direnv or an editor enters the directory",
  },
  "https://cashapp.github.io/hermit/usage/shell": {
    "activate-hermit hermit.hcl **/bin/hermit": "Hermit's hooks of the shell run it when the directory is entered",
  },
  "https://github.com/phpbrew/phpbrew": { ".phpbrewrc": "phpbrew runs it as shell code when the directory is entered" },
  "https://moonrepo.dev/docs/proto/config": { ".prototools": "proto fetches the plug-ins and tools that it names" },
  "https://aquaproj.github.io/docs/reference/config": {
    "aqua.yaml aqua.yml .aqua.yaml .aqua.yml .aqua": "aqua fetches and runs the tools that it names",
  },
  "https://rvm.io/workflow/projects": {
    ".rvmrc .ruby-env .versions.conf": "RVM runs it, or takes variables from it, when the directory is entered",
  },
  "https://github.com/rbenv/rbenv-vars": {
    ".rbenv-vars .powrc .powenv .pumaenv":
      "it is loaded as variables or shell code with every Ruby program of the directory",
  },
  "https://fvm.app/documentation/getting-started/configuration": {
    ".fvm": "editors run the Flutter SDK that it leads to",
  },
  "https://specifications.freedesktop.org/basedir-spec/latest": {
    ".config": "tools such as dotnet, mise, lefthook and Neovim take their settings from it",
  },
  "https://containers.dev/implementors/json_reference": {
    ".devcontainer .devcontainer.json devcontainer.json":
      "editors build the container and run the commands in it, some on the machine itself, when the directory is opened",
  },
  "https://www.gitpod.io/docs/references/gitpod-yml": {
    ".gitpod.yml .gitpod.Dockerfile .gitpod .ona": "Gitpod builds the environment and runs its tasks when it is opened",
  },
  "https://codesandbox.io/docs/learn/repositories/task": {
    ".codesandbox sandbox.config.json": "CodeSandbox runs its tasks when the directory is opened",
  },
  "https://docs.replit.com/replit-app/configuration": {
    ".replit replit.nix replit.md": "Replit builds and runs what it says, and its agent reads it as instructions",
  },
  "https://devfile.io/docs": {
    "devfile.yaml .devfile.yaml .che": "Eclipse Che builds the environment and runs its commands when it is opened",
  },
  "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html": {
    [SHELLS]: "a shell or a session runs it at start where the directory is a home, or a link from one leads here",
  },
  "https://man.openbsd.org/ssh_config": {
    [HOMES]:
      "a program of the person takes servers, credentials or commands from it where the directory is a home, or a link from one leads here",
  },
  "https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html": {
    ".Rprofile .Renviron .RData": "R runs or loads it when it starts in the directory",
  },
  "https://rstudio.github.io/renv/articles/renv.html": {
    "**/renv/activate.R **/packrat/init.R": "projects' `.Rprofile` runs it when R starts in the directory",
  },
  "https://www.mathworks.com/help/matlab/ref/startup.html": {
    "startup.m finish.m": "MATLAB runs it when it starts or ends in the directory",
  },
  "https://docs.ruby-lang.org/en/master/IRB.html": {
    ".irbrc .pryrc": "Ruby's consoles run it when they start in the directory",
  },
  "https://hexdocs.pm/iex/IEx.html": { ".iex.exs": "IEx runs it when it starts in the directory" },
  "https://downloads.haskell.org/ghc/latest/docs/users_guide/ghci.html": {
    ".ghci": "GHCi runs it when it starts in the directory",
  },
  "https://ocaml.org/manual/latest/toplevel.html": {
    ".ocamlinit": "OCaml's console runs it when it starts in the directory",
  },
  "https://docs.octave.org/latest/Startup-Files.html": {
    ".octaverc": "Octave runs it when it starts in the directory",
  },
  "https://sourceware.org/gdb/current/onlinedocs/gdb.html/Init-File-in-the-Current-Directory.html": {
    ".gdbinit .gdbearlyinit .lldbinit .pdbrc .perldb .rdbgrc .byebugrc":
      "a debugger runs it when it starts in the directory",
  },
  "https://mgeier.github.io/latexmk.html": {
    ".latexmkrc latexmkrc": "latexmk, by an editor too, runs it as Perl code with each build of a document",
  },
  "https://docs.jupyter.org/en/latest/use/config.html": {
    [JUPYTER]: "Jupyter and IPython run it when they start in the directory",
  },
  "https://httpd.apache.org/docs/current/howto/htaccess.html": {
    ".htaccess .user.ini web.config":
      "a web server obeys it as soon as it is written, and PHP loads the programs that it names",
  },
});
