/** Files that editors and their language servers obey when a directory or a file in it is opened. */
import type { ObeyedFiles } from "./obeyed-file.ts";

/** Editors' own files. */
export const EDITOR_FILES: readonly ObeyedFiles[] = [
  {
    patterns: [".vscode", "*.code-workspace"],
    reason:
      "VS Code and its kin take tasks, settings, launchers and paths of programs from it; tasks can run when the directory is opened",
    source: "https://code.visualstudio.com/docs/editing/workspaces/workspace-trust",
  },
  {
    patterns: [".vs"],
    reason: "Visual Studio takes tasks and launchers of the directory from it",
    source: "https://learn.microsoft.com/en-us/visualstudio/ide/customize-build-and-debug-tasks-in-visual-studio",
  },
  {
    patterns: [".idea", "*.ipr", "*.iws"],
    reason: "JetBrains' editors take start-up tasks, watchers and paths of programs from it",
    source: "https://www.jetbrains.com/help/idea/project-security.html",
  },
  {
    patterns: [".fleet"],
    reason: "Fleet takes run configurations and settings from it",
    source: "https://www.jetbrains.com/help/fleet/run-configurations.html",
  },
  {
    patterns: [".zed"],
    reason: "Zed takes tasks, language servers and context servers from it, and starts the servers",
    source: "https://zed.dev/docs/configuring-zed",
  },
  {
    patterns: [".exrc", ".vimrc", "_vimrc", ".gvimrc", ".vim"],
    reason: "Vim runs it as commands where `exrc` is set, and plug-ins read their settings there",
    source: "https://vimhelp.org/options.txt.html#%27exrc%27",
  },
  {
    patterns: [".nvim.lua", ".nvimrc", ".nvim", ".lazy.lua"],
    reason: "Neovim runs it as a program where `exrc` is set, lazy.nvim as a plug-in's specification",
    source: "https://neovim.io/doc/user/options.html#'exrc'",
  },
  {
    patterns: [".lvimrc", ".local.vimrc"],
    reason: "Vim's local-vimrc plug-ins run it as commands",
    source: "https://github.com/embear/vim-localvimrc",
  },
  {
    patterns: ["coc-settings.json"],
    reason: "coc.nvim starts the language servers that it names",
    source: "https://github.com/neoclide/coc.nvim/wiki/Using-the-configuration-file",
  },
  {
    patterns: [".neoconf.json", ".nlsp-settings"],
    reason: "Neovim's plug-ins take settings of language servers from it",
    source: "https://github.com/folke/neoconf.nvim",
  },
  {
    patterns: [".ycm_extra_conf.py"],
    reason: "YouCompleteMe runs it as a Python program when a file is opened",
    source: "https://github.com/ycm-core/YouCompleteMe#the-gycm_global_ycm_extra_conf-option",
  },
  {
    patterns: [".dir-locals.el", ".dir-locals-2.el"],
    reason: "Emacs sets variables and evaluates forms from it when a file is opened",
    source: "https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html",
  },
  {
    patterns: [".emacs", ".emacs.d", ".spacemacs", ".doom.d"],
    reason: "Emacs runs it at start where the directory is a home, or a link from one leads here",
    source: "https://www.gnu.org/software/emacs/manual/html_node/emacs/Find-Init.html",
  },
  {
    patterns: ["*.sublime-project", "*.sublime-workspace", "*.sublime-build"],
    reason: "Sublime Text takes build systems and settings from it",
    source: "https://www.sublimetext.com/docs/projects.html",
  },
  {
    patterns: [".kateproject", ".kateproject.local"],
    reason: "Kate takes language servers and build targets from it, and starts the servers",
    source: "https://docs.kde.org/stable5/en/kate/kate/kate-application-plugin-lspclient.html",
  },
  {
    patterns: [".helix"],
    reason: "Helix takes language servers and formatters from it, and starts them",
    source: "https://docs.helix-editor.com/configuration.html",
  },
  {
    patterns: [".lapce"],
    reason: "Lapce takes settings and run configurations from it",
    source: "https://docs.lapce.dev",
  },
  {
    patterns: [".nova"],
    reason: "Nova takes tasks and settings from it",
    source: "https://help.panic.com/nova/project-settings",
  },
  {
    patterns: [".project", ".classpath", ".factorypath", ".settings", ".externalToolBuilders"],
    reason: "Eclipse and Java language servers take builders and annotation processors from it, and run them on import",
    source:
      "https://help.eclipse.org/latest/topic/org.eclipse.platform.doc.isv/reference/misc/project_description_file.html",
  },
  {
    patterns: ["nbproject", "nbactions.xml"],
    reason: "NetBeans takes build scripts and actions of the project from it",
    source: "https://netbeans.apache.org/tutorial/main/kb/docs/java/project-setup",
  },
  {
    patterns: ["buildServer.json"],
    reason: "sourcekit-lsp starts the build server whose command stands in it when the directory is opened",
    source: "https://github.com/swiftlang/sourcekit-lsp/tree/main/Documentation",
  },
  {
    patterns: [".bloop"],
    reason: "Metals loads the compilers and plug-ins that it names when the directory is opened",
    source: "https://scalacenter.github.io/bloop/docs/configuration-format",
  },
  {
    patterns: [".theia"],
    reason: "Theia takes tasks, settings and launchers from it",
    source: "https://theia-ide.org/docs/user_getting_started/",
  },
  {
    patterns: [".bsp"],
    reason: "Metals and IntelliJ start the build server whose command stands in it when the directory is opened",
    source: "https://build-server-protocol.github.io/docs/overview/server-discovery",
  },
  {
    patterns: ["rust-analyzer.toml", ".rust-analyzer.toml"],
    reason: "rust-analyzer runs the check commands that it names when a file is opened or saved",
    source: "https://rust-analyzer.github.io/book/configuration.html",
  },
  {
    patterns: [".clangd", ".ccls"],
    reason: "the C and C++ language server adds the compiler's flags that it names",
    source: "https://clangd.llvm.org/config",
  },
  {
    patterns: [".luarc.json", ".luarc.jsonc"],
    reason: "lua-language-server loads the plug-in that it names, which is a Lua program",
    source: "https://luals.github.io/wiki/configuration",
  },
  {
    patterns: [".merlin"],
    reason: "Merlin runs the preprocessors that it names when a file is opened",
    source: "https://github.com/ocaml/merlin/wiki/project-configuration",
  },
  {
    patterns: ["hie.yaml"],
    reason: "Haskell Language Server runs the programs that it names when a file is opened",
    source: "https://github.com/haskell/hie-bios",
  },
  {
    patterns: [".solargraph.yml", ".ruby-lsp"],
    reason: "Ruby's language servers load the plug-ins and the bundle that it names",
    source: "https://shopify.github.io/ruby-lsp",
  },
  {
    patterns: [".sourcekit-lsp"],
    reason: "SourceKit-LSP takes compiler flags and toolchain options from it",
    source: "https://github.com/swiftlang/sourcekit-lsp/blob/main/Documentation/Configuration%20File.md",
  },
  {
    patterns: ["pyrightconfig.json"],
    reason: "Pyright and Pylance run the interpreter of the environment that it names",
    source: "https://microsoft.github.io/pyright/#/configuration",
  },
  {
    patterns: [".obsidian"],
    reason: "Obsidian runs the plug-ins in it when the directory is opened as a vault",
    source: "https://help.obsidian.md/plugin-security",
  },
];
