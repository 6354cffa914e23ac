/** Gadgets of package managers: what starts programs of a package, names other programs, or publishes. */
import type { Gadget, ValueLetters } from "./gadget.ts";

/** Package managers. */
export const PACKAGES: readonly Gadget[] = [
  {
    of: "npm",
    does: "starts",
    options:
      "--script-shell --node-options --editor --viewer --browser --shell --userconfig --globalconfig --init-module --onload-script --git --call -c",
    source: "npm-config(7)",
  },
  {
    of: "npm",
    does: "starts",
    verbs:
      "explore, edit, config edit, config set, set, init, innit, create, c set, c edit, help-search, bugs, docs, home, repo, issues",
    source: "npm(1)",
  },
  {
    of: "pnpm",
    does: "starts",
    options: "--script-shell --node-options --config -c",
    verbs: "create, config set, env, node, setup, self-update",
    source: "pnpm help",
  },
  {
    of: "yarn yarnpkg",
    does: "starts",
    options: "--use-yarnrc --script-shell --exec",
    verbs: "create, node, plugin, set version, config set, policies, global",
    source: "yarn help",
  },
  {
    of: "npm pnpm yarn bun",
    does: "leaves",
    verbs:
      "publish, unpublish, deprecate, dist-tag, dist-tags, access, owner, author, org, team, token, hook, star, login, adduser, logout, profile, stage, trust",
    source: "npm(1)",
  },
  { of: "cargo", does: "leaves", verbs: "publish, yank, owner, login, logout", source: "cargo(1)" },
  {
    of: "pip uv conda mamba",
    does: "starts",
    options: "--editor --python-interpreter --build-backend --keyring-provider",
    verbs: "config edit, config --editor, config set",
    source: "pip(1)",
  },
  {
    of: "pip",
    does: "runs",
    options: "--global-option --config-settings --config-setting -C --build-option --install-option --python",
    verbs: "wheel, download, debug, build",
    source: "pip(1): packages are built by their own code",
  },
  {
    of: "uv",
    does: "starts",
    verbs: "tool, build, publish, self, x, python install",
    options: "--config-file --python",
    source: "uv help",
  },
  {
    of: "poetry pdm hatch rye flit pipenv",
    does: "starts",
    verbs: "shell, publish, env use",
    source: "poetry help",
  },
  {
    of: "twine flit setuptools-upload",
    does: "leaves",
    always: true,
    unless: "check, build, --version",
    source: "twine(1)",
  },
  { of: "easy_install", does: "runs", always: true, source: "easy_install --help" },
  { of: "gem", does: "edits", first: /^o(?:p(?:en?)?)?$/, by: "open", source: "gem help open" },
  { of: "gem", does: "starts", options: "-e --editor --config-file", source: "gem help" },
  {
    of: "gem",
    does: "runs",
    first:
      /^(?:i(?:n(?:s(?:t(?:a(?:ll?)?)?)?)?)?|exec?|b(?:u(?:i(?:ld?)?)?)?|up\w*|pri\w*|reb\w*|rd\w*|gen\w*|set\w*|h\w*k\w*)$/,
    by: "install, exec or build",
    source: "gem help",
  },
  { of: "gem", does: "leaves", first: /^(?:pu\w*|y\w*|ow\w*|si\w*|mir\w*)$/, by: "push or yank", source: "gem help" },
  {
    of: "bundle bundler",
    does: "runs",
    verbs: "console, open, plugin, gem, viz, doctor, help, config set",
    source: "bundle(1)",
  },
  {
    of: "composer",
    does: "runs",
    first: /^(?:ex\w*|run[\w-]*|gl\w*|create-\w*|home|browse|self\w*|config|reinstall|bump)$/,
    options: "--plugins --editor -e",
    by: "exec or run-script",
    source: "composer help",
  },
  { of: "cpan cpanm cpanp cpanplus perlbrew", does: "runs", always: true, source: "cpan(1)" },
  {
    of: "luarocks opam raco spago elm hex",
    does: "runs",
    verbs: "install, make, build, exec, upload, publish, config, init, switch, lint, remove, run, doc, setup, pkg",
    source: "luarocks help, opam(1)",
  },
  {
    of: "stack",
    does: "runs",
    verbs: "exec, ghci, repl, runghc, script, ghc, eval, hoogle, upload",
    options: "--docker --nix --with-gcc --ghc-options",
    source: "stack --help",
  },
  {
    of: "apt apt-get aptitude apt-cache apt-cdrom apt-config apt-mark",
    does: "starts",
    options: "-o -c --option --config-file",
    source: "apt.conf(5)",
  },
  {
    of: "apt apt-get aptitude",
    does: "starts",
    verbs:
      "install, reinstall, remove, purge, upgrade, full-upgrade, dist-upgrade, dselect-upgrade, autoremove, build-dep, changelog, edit-sources, source",
    source: "apt(8)",
  },
  {
    of: "dpkg",
    does: "starts",
    options:
      "--pre-invoke --post-invoke --status-logger --install -i --unpack --configure --remove -r --purge -P --triggers-only --root --instdir --admindir",
    source: "dpkg(1)",
  },
  {
    of: "dpkg-deb dpkg-buildpackage debuild sbuild pbuilder checkinstall makepkg rpmbuild mock abuild fpm alien ebuild portage",
    does: "runs",
    always: true,
    unless: "-c, -I, -x, --contents, --info, --extract, -f, --field",
    source: "dpkg-buildpackage(1), rpmbuild(8)",
  },
  {
    of: "rpm rpmquery rpmverify rpmdb rpmspec rpmkeys",
    does: "starts",
    options:
      "--eval --pipe --define --undefine --load --macros --rcfile --install --upgrade --freshen --erase --reinstall --restore --import",
    source: "rpm(8)",
  },
  { of: "rpm", does: "starts", words: /^-(?!q|V|-)[a-zA-Z]*[iUFeED]/, by: "-i, -U, -e, -D or -E", source: "rpm(8)" },
  {
    of: "dnf dnf5 yum microdnf zypper tdnf urpmi",
    does: "starts",
    options: "-c --config --setopt --enableplugin --installroot --root -R",
    verbs:
      "install, localinstall, reinstall, update, upgrade, downgrade, remove, erase, shell, builddep, in, up, dup, rm",
    source: "dnf(8), zypper(8)",
  },
  {
    of: "pacman yay paru",
    does: "starts",
    options: "-S -U -R --sync --upgrade --remove --config --hookdir --dbpath --root --gpgdir",
    source: "pacman(8)",
  },
  {
    of: "apk opkg pkg pkgin port xbps-install emerge eopkg swupd slackpkg nala",
    does: "starts",
    verbs: "add, install, upgrade, fix, del, remove, delete, sync",
    options: "--root -p --initdb",
    source: "apk(8), pkg(8)",
  },
  {
    of: "brew",
    does: "starts",
    verbs:
      "install, reinstall, upgrade, edit, irb, ruby, sh, bundle, test, create, command, services, postinstall, tap, prof, style, audit",
    source: "brew(1)",
  },
  {
    of: "needrestart update-alternatives alternatives debconf dpkg-reconfigure unattended-upgrade tasksel",
    does: "starts",
    always: true,
    unless: "--list, --query, --display",
    source: "needrestart(1)",
  },
  {
    of: "rustup",
    does: "starts",
    verbs: "install, toolchain, override, default, self, update, doc, man",
    source: "rustup help",
  },
  {
    of: "nvm fnm volta jenv plenv asdf sdk proto",
    does: "starts",
    verbs:
      "exec, run, install, shell, plugin, use, x, task, tasks, edit, global, plugins, link, plugin-add, plugin add, bin-paths, watch, trust, settings, en",
    source: "mise(1), asdf(1)",
  },
  { of: "direnv", does: "runs", verbs: "allow, permit, reload, export, edit, hook", source: "direnv(1)" },
  {
    of: "vsce ovsx clasp firebase vercel netlify wrangler surge now amplify expo eas",
    does: "leaves",
    verbs:
      "publish, unpublish, deploy, login, delete, push, env, secret, dev, build, submit, functions, exec, run, link, alias",
    source: "each program's own help",
  },
];

/** Letters that take a value. */
export const PACKAGE_VALUES: ValueLetters = {
  npm: "wC",
  pip: "rceift",
  apt: "t",
  "apt-get": "t",
};
