/** Gadgets of package managers: what starts programs of a package, names other programs, or publishes. */
import { edits, type Gadget, leaves, runs, starts, type ValueLetters } from "./gadget.ts";

/** Package managers. */
export const PACKAGES: readonly Gadget[] = [
  starts("npm", "npm-config(7)", {
    options:
      "--script-shell --node-options --editor --viewer --browser --shell --userconfig --globalconfig --init-module --onload-script --git --call -c",
  }),
  starts("npm", "npm(1)", {
    verbs:
      "explore, edit, config edit, config set, set, init, innit, create, c set, c edit, help-search, bugs, docs, home, repo, issues",
  }),
  starts("pnpm", "pnpm help", {
    options: "--script-shell --node-options --config -c",
    verbs: "create, config set, env, node, setup, self-update",
  }),
  starts("yarn yarnpkg", "yarn help", {
    options: "--use-yarnrc --script-shell --exec",
    verbs: "create, node, plugin, set version, config set, policies, global",
  }),
  leaves("npm pnpm yarn bun", "npm(1)", {
    verbs:
      "publish, unpublish, deprecate, dist-tag, dist-tags, access, owner, author, org, team, token, hook, star, login, adduser, logout, profile, stage, trust",
  }),
  leaves("cargo", "cargo(1)", { verbs: "publish, yank, owner, login, logout" }),
  starts("pip uv conda mamba", "pip(1)", {
    options: "--editor --python-interpreter --build-backend --keyring-provider",
    verbs: "config edit, config --editor, config set",
  }),
  runs("pip", "pip(1): packages are built by their own code", {
    options: "--global-option --config-settings --config-setting -C --build-option --install-option --python",
    verbs: "wheel, download, debug, build",
  }),
  starts("uv", "uv help", {
    verbs: "tool, build, publish, self, x, python install",
    options: "--config-file --python",
  }),
  starts("poetry pdm hatch rye flit pipenv", "poetry help", { verbs: "shell, publish, env use" }),
  leaves("twine flit setuptools-upload", "twine(1)", { always: true, unless: "check, build, --version" }),
  runs("easy_install", "easy_install --help", { always: true }),
  edits("gem", "gem help open", { first: /^o(?:p(?:en?)?)?$/, by: "open" }),
  starts("gem", "gem help", { options: "-e --editor --config-file" }),
  runs("gem", "gem help", {
    first:
      /^(?:i(?:n(?:s(?:t(?:a(?:ll?)?)?)?)?)?|exec?|b(?:u(?:i(?:ld?)?)?)?|up\w*|pri\w*|reb\w*|rd\w*|gen\w*|set\w*|h\w*k\w*)$/,
    by: "install, exec or build",
  }),
  leaves("gem", "gem help", { first: /^(?:pu\w*|y\w*|ow\w*|si\w*|mir\w*)$/, by: "push or yank" }),
  runs("bundle bundler", "bundle(1)", { verbs: "console, open, plugin, gem, viz, doctor, help, config set" }),
  runs("composer", "composer help", {
    first: /^(?:ex\w*|run[\w-]*|gl\w*|create-\w*|home|browse|self\w*|config|reinstall|bump)$/,
    options: "--plugins --editor -e",
    by: "exec or run-script",
  }),
  runs("cpan cpanm cpanp cpanplus perlbrew", "cpan(1)", { always: true }),
  runs("luarocks opam raco spago elm hex", "luarocks help, opam(1)", {
    verbs: "install, make, build, exec, upload, publish, config, init, switch, lint, remove, run, doc, setup, pkg",
  }),
  runs("stack", "stack --help", {
    verbs: "exec, ghci, repl, runghc, script, ghc, eval, hoogle, upload",
    options: "--docker --nix --with-gcc --ghc-options",
  }),
  starts("apt apt-get aptitude apt-cache apt-cdrom apt-config apt-mark", "apt.conf(5)", {
    options: "-o -c --option --config-file",
  }),
  starts("apt apt-get aptitude", "apt(8)", {
    verbs:
      "install, reinstall, remove, purge, upgrade, full-upgrade, dist-upgrade, dselect-upgrade, autoremove, build-dep, changelog, edit-sources, source",
  }),
  starts("dpkg", "dpkg(1)", {
    options:
      "--pre-invoke --post-invoke --status-logger --install -i --unpack --configure --remove -r --purge -P --triggers-only --root --instdir --admindir",
  }),
  runs(
    "dpkg-deb dpkg-buildpackage debuild sbuild pbuilder checkinstall makepkg rpmbuild mock abuild fpm alien ebuild portage",
    "dpkg-buildpackage(1), rpmbuild(8)",
    { always: true, unless: "-c, -I, -x, --contents, --info, --extract, -f, --field" },
  ),
  starts("rpm rpmquery rpmverify rpmdb rpmspec rpmkeys", "rpm(8)", {
    options:
      "--eval --pipe --define --undefine --load --macros --rcfile --install --upgrade --freshen --erase --reinstall --restore --import",
  }),
  starts("rpm", "rpm(8)", { words: /^-(?!q|V|-)[a-zA-Z]*[iUFeED]/, by: "-i, -U, -e, -D or -E" }),
  starts("dnf dnf5 yum microdnf zypper tdnf urpmi", "dnf(8), zypper(8)", {
    options: "-c --config --setopt --enableplugin --installroot --root -R",
    verbs:
      "install, localinstall, reinstall, update, upgrade, downgrade, remove, erase, shell, builddep, in, up, dup, rm",
  }),
  starts("pacman yay paru", "pacman(8)", {
    options: "-S -U -R --sync --upgrade --remove --config --hookdir --dbpath --root --gpgdir",
  }),
  starts("apk opkg pkg pkgin port xbps-install emerge eopkg swupd slackpkg nala", "apk(8), pkg(8)", {
    verbs: "add, install, upgrade, fix, del, remove, delete, sync",
    options: "--root -p --initdb",
  }),
  starts("brew", "brew(1)", {
    verbs:
      "install, reinstall, upgrade, edit, irb, ruby, sh, bundle, test, create, command, services, postinstall, tap, prof, style, audit",
  }),
  starts(
    "needrestart update-alternatives alternatives debconf dpkg-reconfigure unattended-upgrade tasksel",
    "needrestart(1)",
    { always: true, unless: "--list, --query, --display" },
  ),
  starts("rustup", "rustup help", { verbs: "install, toolchain, override, default, self, update, doc, man" }),
  starts("nvm fnm volta jenv plenv asdf sdk proto", "mise(1), asdf(1)", {
    verbs:
      "exec, run, install, shell, plugin, use, x, task, tasks, edit, global, plugins, link, plugin-add, plugin add, bin-paths, watch, trust, settings, en",
  }),
  runs("direnv", "direnv(1)", { verbs: "allow, permit, reload, export, edit, hook" }),
  leaves("vsce ovsx clasp firebase vercel netlify wrangler surge now amplify expo eas", "each program's own help", {
    verbs:
      "publish, unpublish, deploy, login, delete, push, env, secret, dev, build, submit, functions, exec, run, link, alias",
  }),
];

/** Letters that take a value. */
export const PACKAGE_VALUES: ValueLetters = {
  npm: "wC",
  pip: "rceift",
  apt: "t",
  "apt-get": "t",
};
