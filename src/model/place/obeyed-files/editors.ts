/** Files that editors and their language servers obey when a directory or a file in it is opened. */
import { obeyedFiles } from "./obeyed-file.ts";

/** Editors' own files. */
export const EDITOR_FILES = obeyedFiles({
  "https://code.visualstudio.com/docs/editing/workspaces/workspace-trust": {
    ".vscode *.code-workspace":
      "VS Code and its kin take tasks, settings, launchers and paths of programs from it; tasks can run when the directory is opened",
  },
  "https://learn.microsoft.com/en-us/visualstudio/ide/customize-build-and-debug-tasks-in-visual-studio": {
    ".vs": "Visual Studio takes tasks and launchers of the directory from it",
  },
  "https://www.jetbrains.com/help/idea/project-security.html": {
    ".idea .run *.ipr *.iws": "JetBrains' editors take start-up tasks, watchers and paths of programs from it",
  },
  "https://www.jetbrains.com/help/fleet/run-configurations.html": {
    ".fleet": "Fleet takes run configurations and settings from it",
  },
  "https://zed.dev/docs/configuring-zed": {
    ".zed": "Zed takes tasks, language servers and context servers from it, and starts the servers",
  },
  "https://vimhelp.org/options.txt.html#%27exrc%27": {
    ".exrc .vimrc _vimrc .gvimrc .vim":
      "Vim runs it as commands where `exrc` is set, and plug-ins read their settings there",
  },
  "https://neovim.io/doc/user/options.html#'exrc'": {
    ".nvim.lua .nvimrc .nvim .lazy.lua":
      "Neovim runs it as a program where `exrc` is set, lazy.nvim as a plug-in's specification",
  },
  "https://github.com/embear/vim-localvimrc": {
    ".lvimrc .local.vimrc": "Vim's local-vimrc plug-ins run it as commands",
  },
  "https://github.com/neoclide/coc.nvim/wiki/Using-the-configuration-file": {
    "coc-settings.json": "coc.nvim starts the language servers that it names",
  },
  "https://github.com/folke/neoconf.nvim": {
    ".neoconf.json .nlsp-settings": "Neovim's plug-ins take settings of language servers from it",
  },
  "https://github.com/ycm-core/YouCompleteMe#the-gycm_global_ycm_extra_conf-option": {
    ".ycm_extra_conf.py": "YouCompleteMe runs it as a Python program when a file is opened",
  },
  "https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html": {
    ".dir-locals.el .dir-locals-2.el": "Emacs sets variables and evaluates forms from it when a file is opened",
  },
  "https://www.gnu.org/software/emacs/manual/html_node/emacs/Find-Init.html": {
    ".emacs .emacs.d .spacemacs .doom.d":
      "Emacs runs it at start where the directory is a home, or a link from one leads here",
  },
  "https://macromates.com/blog/2011/git-style-configuration": {
    ".tm_properties": "TextMate takes settings and variables of its commands from it",
  },
  "https://www.sublimetext.com/docs/projects.html": {
    "*.sublime-project *.sublime-workspace *.sublime-build": "Sublime Text takes build systems and settings from it",
  },
  "https://docs.kde.org/stable5/en/kate/kate/kate-application-plugin-lspclient.html": {
    ".kateproject .kateproject.local": "Kate takes language servers and build targets from it, and starts the servers",
  },
  "https://docs.helix-editor.com/configuration.html": {
    ".helix": "Helix takes language servers and formatters from it, and starts them",
  },
  "https://docs.lapce.dev": { ".lapce": "Lapce takes settings and run configurations from it" },
  "https://help.panic.com/nova/project-settings": { ".nova": "Nova takes tasks and settings from it" },
  "https://help.eclipse.org/latest/topic/org.eclipse.platform.doc.isv/reference/misc/project_description_file.html": {
    ".project .classpath .factorypath .settings .externalToolBuilders":
      "Eclipse and Java language servers take builders and annotation processors from it, and run them on import",
  },
  "https://netbeans.apache.org/tutorial/main/kb/docs/java/project-setup": {
    "nbproject nbactions.xml": "NetBeans takes build scripts and actions of the project from it",
  },
  "https://github.com/swiftlang/sourcekit-lsp/tree/main/Documentation": {
    "buildServer.json": "sourcekit-lsp starts the build server whose command stands in it when the directory is opened",
  },
  "https://scalacenter.github.io/bloop/docs/configuration-format": {
    ".bloop": "Metals loads the compilers and plug-ins that it names when the directory is opened",
  },
  "https://theia-ide.org/docs/user_getting_started/": { ".theia": "Theia takes tasks, settings and launchers from it" },
  "https://build-server-protocol.github.io/docs/overview/server-discovery": {
    ".bsp": "Metals and IntelliJ start the build server whose command stands in it when the directory is opened",
  },
  "https://rust-analyzer.github.io/book/configuration.html": {
    "rust-analyzer.toml .rust-analyzer.toml":
      "rust-analyzer runs the check commands that it names when a file is opened or saved",
  },
  "https://clangd.llvm.org/config": {
    ".clangd .ccls": "the C and C++ language server adds the compiler's flags that it names",
  },
  "https://luals.github.io/wiki/configuration": {
    ".luarc.json .luarc.jsonc": "lua-language-server loads the plug-in that it names, which is a Lua program",
  },
  "https://github.com/ocaml/merlin/wiki/project-configuration": {
    ".merlin": "Merlin runs the preprocessors that it names when a file is opened",
  },
  "https://github.com/haskell/hie-bios": {
    "hie.yaml .hie-bios": "Haskell Language Server runs the programs that it names when a file is opened",
  },
  "https://clojure-lsp.io/settings": {
    ".lsp": "clojure-lsp runs the commands that it names for the class path when a file is opened",
  },
  "https://phpactor.readthedocs.io/en/master/reference/configuration.html": {
    ".phpactor.json .phpactor.yml": "Phpactor runs the programs that it names when a file is opened",
  },
  "https://nim-lang.org/docs/nims.html": {
    "config.nims nim.cfg": "Nim's compiler and language server run it, or take tools from it, when a file is opened",
  },
  "https://www.gnu.org/software/global/globaldoc_toc.html": {
    "gtags.conf .globalrc": "GNU Global, by an editor too, loads the parsers that it names",
  },
  "https://shopify.github.io/ruby-lsp": {
    ".solargraph.yml .ruby-lsp": "Ruby's language servers load the plug-ins and the bundle that it names",
  },
  "https://github.com/swiftlang/sourcekit-lsp/blob/main/Documentation/Configuration%20File.md": {
    ".sourcekit-lsp": "SourceKit-LSP takes compiler flags and toolchain options from it",
  },
  "https://microsoft.github.io/pyright/#/configuration": {
    "pyrightconfig.json": "Pyright and Pylance run the interpreter of the environment that it names",
  },
  "https://help.obsidian.md/plugin-security": {
    ".obsidian": "Obsidian runs the plug-ins in it when the directory is opened as a vault",
  },
  "https://lite-xl.com/user-guide/settings": {
    ".lite_project.lua": "Lite XL runs it when the directory is opened as a project",
  },
});
