/** Gadgets of editors, pagers and other programs that people work in: their commands can start programs. */
import { edits, type Gadget, leaves, starts } from "./gadget.ts";

/** Editors, pagers, file managers. */
export const EDITORS: readonly Gadget[] = [
  edits("vi vim nvim view ex rvim rview vimdiff gvim gview evim vimtutor vimx elvis nvi vile vis nvim-qt", "vim(1)", {
    always: true,
  }),
  edits("vipw vigr visudo vidir vipe sudoedit sensible-editor select-editor editor", "vipw(8), sudo(8)", {
    always: true,
  }),
  edits(
    "ed red edit jed ne joe jmacs jstar jpico rjoe mg zile micro hx helix kak amp dte tilde nano rnano pico",
    "ed(1), nano(1)",
    { always: true },
  ),
  edits("emacs emacsclient xemacs mcedit mc mcview gedit kate kwrite xed pluma leafpad mousepad geany", "emacs(1)", {
    always: true,
  }),
  leaves("code code-insiders codium cursor windsurf subl atom zed idea pycharm webstorm goland clion", "code --help", {
    always: true,
    unless: "--version",
  }),
  starts("less zless bzless xzless lzless zstdless lessecho", "less(1)", {
    options: "-k --lesskey-file --lesskey-src --lesskey-content",
    words: /^\+{1,2}(?!\d*[gGpF]?$|[/?][^\p{Cc}]*$)/u,
    by: "+command",
  }),
  starts("more zmore bzmore xzmore", "more(1)", { words: /^\+[^\d/]/, by: "+command" }),
  edits("most pg", "pg(1)", { options: "+", words: /^\+[^\d/]/, by: "+command" }),
  starts("bat batcat delta", "bat(1), delta(1)", { options: "--pager --paging", verbs: "cache" }),
  edits("ranger nnn lf vifm ncdu broot xplr yazi joshuto", "ranger(1)", { always: true }),
  starts("fzf sk", "fzf(1)", {
    options: "--bind --preview --listen --listen-unsafe --become --cmd -c --with-shell --tmux",
  }),
  starts("peco percol dmenu rofi", "peco(1), rofi(1)", { options: "--exec --rcfile -run-command -modi -modes" }),
  edits("w3m lynx links elinks links2 browsh carbonyl", "lynx(1), w3m(1)", {
    always: true,
    unless: "-dump, -dump_source, -source, -dump_head, -head",
  }),
  starts("lynx links elinks w3m", "lynx(1)", {
    options: "-cfg -cmd_script -config -config-file -config-dir -o -lss -remote -eval",
    words: /^lynx(?:exec|prog|cgi):/i,
    by: "lynxexec:",
  }),
  edits("top htop atop iotop iftop nethogs btop glances powertop", "top(1): a pipe of its configuration", {
    always: true,
    unless: "-b, -v",
  }),
  starts(
    "screen tmux tmate byobu zellij dtach abduco dvtm mosh-server ttyd wetty gotty tty-share sshx",
    "screen(1), tmux(1)",
    { always: true },
  ),
  starts(
    "xterm uxterm lxterm rxvt urxvt gnome-terminal konsole alacritty kitty foot wezterm st terminator xfce4-terminal qterminal x-terminal-emulator",
    "xterm(1)",
    { always: true },
  ),
  leaves(
    "xdotool ydotool wmctrl i3-msg swaymsg hyprctl bspc awesome-client xautolock xbindkeys sxhkd osascript",
    "xdotool(1)",
    { always: true },
  ),
  edits("minicom picocom cu tip kermit runscript screenlog", "minicom(1)", { always: true }),
  edits("tig lazygit gitui gitk git-gui lazydocker k9s ncmpcpp newsboat irssi weechat rtorrent", "tig(1)", {
    always: true,
  }),
  edits("dialog whiptail zenity kdialog", "dialog(1)", {
    options: "--prgbox --programbox --prgbox --treeview --command",
  }),
  starts(
    "claude codex gemini opencode aider goose cursor-agent copilot amp crush openhands cline q",
    "each agent's own help",
    { always: true, unless: "--version" },
  ),
];
