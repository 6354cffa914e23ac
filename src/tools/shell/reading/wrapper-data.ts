/**
 * Lists programs that run another program by its name, with their options.
 *
 * From this data it can be told which word is the program.
 *
 * INVARIANT: an option that does not stand here makes what follows unclear.
 */

/**
 * Options by letters, and long names parted by blanks; `values` take one. `skip` counts arguments before the program.
 */
export interface Options {
  readonly flags?: string;
  readonly values?: string;
  /** Letters whose value, if there is one, is joined to them. */
  readonly attached?: string;
  readonly longFlags?: string;
  readonly longValues?: string;
  readonly skip?: number;
  /** `NAME=value` may stand before the program. */
  readonly assigns?: true;
  readonly inside?: true;
  readonly fed?: true;
  /** Letters of options with which nothing is run. */
  readonly asks?: string;
  /** Options with which it runs in another directory. */
  readonly elsewhere?: RegExp;
}

/** The same options for several programs, parted by blanks. */
function alike(programs: string, options: Options): Readonly<Record<string, Options>> {
  return Object.fromEntries(programs.split(" ").map((program) => [program, options]));
}

/** Programs that run what stands behind their options. */
export const PREFIXES: Readonly<Record<string, Options>> = {
  ...alike("nohup eatmydata torify usewithtor tsocks distcc sccache ccache icecc fakeroot busybox", {}),
  ...alike("toybox catchsegv dbus-run-session valgrind numactl proot torsocks proxychains proxychains4", {}),
  ...alike("gosu su-exec", { skip: 1 }),
  ...alike("cross-env cross-env-shell", { assigns: true }),
  ...alike("builtin noglob", { inside: true }),
  env: {
    flags: "i0v",
    values: "uC",
    longFlags: "ignore-environment null debug",
    longValues: "unset chdir",
    assigns: true,
    elsewhere: /^(?:-[a-zA-Z0]*C|--c)/,
  },
  sudo: {
    flags: "AbEHnPkKSBN",
    values: "ugpChrtTUDR",
    longFlags: "preserve-env non-interactive stdin set-home background login shell askpass",
    longValues: "user group prompt host chdir chroot role type",
    assigns: true,
    elsewhere: /^(?:-[a-zA-Z]*[DRi]|--(?:c|l))/,
  },
  doas: { flags: "nLs", values: "uC" },
  setsid: { flags: "cfw", longFlags: "ctty fork wait" },
  timeout: {
    flags: "v",
    values: "sk",
    longFlags: "foreground preserve-status verbose",
    longValues: "signal kill-after",
    skip: 1,
  },
  nice: { flags: "0123456789", values: "n", longValues: "adjustment" },
  ionice: { flags: "t", values: "cn", longFlags: "ignore", longValues: "class classdata" },
  chrt: { flags: "abfiorRv", values: "TPD", skip: 1 },
  taskset: { flags: "ac", longFlags: "all-tasks cpu-list", skip: 1 },
  stdbuf: { values: "ioe", longValues: "input output error" },
  time: {
    flags: "pvaq",
    values: "fo",
    longFlags: "portability verbose append quiet",
    longValues: "format output",
  },
  prlimit: { flags: "v", longFlags: "as core cpu data fsize nofile nproc rss stack" },
  choom: { values: "np", longValues: "adjust pid" },
  "ssh-agent": { flags: "cdDkqsTuUx", values: "aEOPt" },
  sshpass: { flags: "evhV", values: "fdpP" },
  multitime: { flags: "lqv", values: "InrsiobfcR" },
  unbuffer: { flags: "p" },
  faketime: { flags: "fm", skip: 1 },
  chroot: { longValues: "userspec groups", longFlags: "skip-chdir", skip: 1, elsewhere: /^/ },
  strace: { flags: "cCdfFhikqrtTvVwxyYzZ", values: "aebEIoOpPsSuUX" },
  ltrace: { flags: "bcCfiLrStT", values: "aAeFlnopsuwx" },
  exec: { flags: "cl", values: "a", inside: true },
  command: { flags: "p", asks: "vV", inside: true },
  tini: { flags: "gsvw", values: "pe" },
  "dumb-init": { flags: "cv", values: "r" },
  "xvfb-run": { flags: "al", values: "efnpsw" },
  chronic: { flags: "ve" },
  ifne: { flags: "n" },
  logsave: { flags: "asv", skip: 1 },
  xargs: {
    flags: "0oprtx",
    values: "IadEsLnPJRS",
    attached: "iel",
    longFlags: "null no-run-if-empty verbose interactive exit open-tty show-limits replace eof max-lines",
    longValues: "arg-file delimiter max-args max-procs max-chars process-slot-var",
    fed: true,
  },
  npx: {
    flags: "yq",
    values: "pw",
    longFlags: "yes no no-install quiet prefer-offline offline",
    longValues: "package workspace",
  },
  bunx: { longFlags: "bun verbose silent" },
  uvx: { flags: "q", values: "p", longValues: "from with python" },
};

/** `setarch` and the names that it goes by, behind the name of an architecture. */
export const SETARCH: Options = {
  flags: "BFILRSTXZv3",
  longFlags:
    "32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize whole-seconds sticky-timeouts read-implies-exec mmap-page-zero 3gb 4gb uname-2.6 verbose",
};
/** Names of `setarch` that are architectures themselves. */
export const SETARCH_NAMES =
  /^(?:linux32|linux64|uname26|i[3456]86|athlon|x86_64|ppc(?:32|64)?(?:le)?|s390x?|sparc\w*|mips\w*|arm\w*|aarch64|alpha|ia64|parisc\w*|hppa\w*|riscv\w*)$/;

/** What loads programs also runs them. */
export const LOADER: Options = { longFlags: "inhibit-cache", longValues: "library-path argv0" };

/** Programs whose first argument makes them run what follows. */
export const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npm: ["exec", "x"],
  pnpm: ["exec", "dlx"],
  yarn: ["exec", "dlx"],
  poetry: ["run"],
  pipenv: ["run"],
  uv: ["run"],
  pdm: ["run"],
  hatch: ["run"],
  rye: ["run"],
  bundle: ["exec"],
  conda: ["run"],
  direnv: ["exec"],
  rustup: ["run"],
  corepack: ["npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg"],
  pipx: ["run"],
  mise: ["exec", "x"],
  rtx: ["exec", "x"],
  rbenv: ["exec"],
  pyenv: ["exec"],
  nodenv: ["exec"],
  goenv: ["exec"],
  perf: ["stat", "record", "trace"],
  rr: ["record"],
  codex: ["sandbox"],
};
/** What stands between the verb and the program: a directory, a toolchain. */
export const BEFORE_PROGRAM: Readonly<Record<string, number>> = { direnv: 1, rustup: 1 };

/** A program with an option that carries text for a shell, and the letters of its options that take a value. */
export interface CodeOption {
  readonly letter: string;
  readonly name: string;
  readonly values: string;
}

/** Options of these programs that carry text for a shell. */
export const CODE_OPTIONS: Readonly<Record<string, CodeOption>> = {
  su: { letter: "c", name: "--command", values: "gGsw" },
  runuser: { letter: "c", name: "--command", values: "gGsuw" },
  script: { letter: "c", name: "--command", values: "BEImOoT" },
  npx: { letter: "c", name: "--call", values: "pw" },
  sg: { letter: "c", name: "--command", values: "" },
  scriptlive: { letter: "c", name: "--command", values: "BITdmt" },
};
