/**
 * Names of environment variables that nobody may set for a command, because they decide which code a program loads or runs.
 *
 * INVARIANT: names are compared without regard to case, so that programs which do not regard it either are covered.
 */

/** What begins so is refused whole. */
const REFUSED_PREFIXES = [
  "LD_",
  "DYLD_",
  "GIT_",
  "BASH_FUNC_",
  "NPM_CONFIG_",
  "YARN_",
  "PNPM_",
  "PIP_",
  "CARGO_",
  "RUSTC",
  "HANDRAIL_",
  "JAVA_TOOL_",
  "DOTNET_",
  "CORECLR_",
  "COR_",
  "MALLOC_",
  "GCONV_",
  "GLIBC_",
] as const;

const REFUSED_NAMES = new Set([
  ...["PATH", "IFS", "ENV", "BASH_ENV", "BASHOPTS", "SHELLOPTS", "SHELL", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "CDPATH"],
  ...["BASH_ALIASES", "BASH_CMDS", "BASH_COMPAT", "EXECIGNORE", "GLOBIGNORE", "FPATH", "ZDOTDIR", "HISTFILE", "TMOUT"],
  ...["HOME", "TMPDIR", "USER", "LOGNAME", "PWD", "OLDPWD"],
  ...["NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "NODE_REPL_EXTERNAL_MODULE", "NODE_USE_ENV_PROXY", "BUN_OPTIONS", "DENO_DIR"],
  ...["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONUSERBASE", "PYTHONBREAKPOINT", "PYTHONWARNINGS"],
  ...["PYTHONEXECUTABLE", "PYTHONPLATLIBDIR", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "VIRTUAL_ENV"],
  ...[
    "PERL5LIB",
    "PERLLIB",
    "PERL5OPT",
    "PERL5DB",
    "PERL5SHELL",
    "RUBYOPT",
    "RUBYLIB",
    "RUBYSHELL",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_GEMFILE",
  ],
  ...["PHPRC", "PHP_INI_SCAN_DIR", "LUA_INIT", "LUA_PATH", "LUA_CPATH", "TCLLIBPATH", "R_PROFILE", "R_PROFILE_USER", "R_ENVIRON"],
  ...["CLASSPATH", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "MAVEN_OPTS", "MAVEN_ARGS", "GRADLE_OPTS", "ANT_OPTS", "SBT_OPTS"],
  ...["GOFLAGS", "GOENV", "GOROOT", "GOPROXY", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOINSECURE", "GOTOOLCHAIN", "CGO_CFLAGS"],
  ...[
    "CGO_LDFLAGS",
    "MAKEFLAGS",
    "MFLAGS",
    "GNUMAKEFLAGS",
    "MAKEFILES",
    "CC",
    "CXX",
    "CPP",
    "LD",
    "AR",
    "AS",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
  ],
  ...["COMPILER_PATH", "GCC_EXEC_PREFIX", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "LESSEDIT"],
  ...["SUDO_ASKPASS", "SUDO_EDITOR", "SSH_ASKPASS", "SSH_AUTH_SOCK", "DISPLAY", "TAR_OPTIONS", "RSYNC_RSH", "RIPGREP_CONFIG_PATH"],
  ...[
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "OPENSSL_ENGINES",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "CURL_HOME",
  ],
  ...[
    "WGETRC",
    "INPUTRC",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TERMCAP",
    "LOCPATH",
    "NLSPATH",
    "TEXTDOMAINDIR",
    "HOSTALIASES",
    "RESOLV_HOST_CONF",
  ],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY", "DOCKER_HOST", "KUBECONFIG", "XDG_CONFIG_HOME", "XDG_DATA_DIRS"],
  ...[
    "XDG_CONFIG_DIRS",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "VIMINIT",
    "EXINIT",
    "GDBINIT",
    "ENV_FILE",
  ],
]);

/** What a name of an environment variable looks like; others would reach a shell as something else. */
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether `name` may not be set for a command. */
export function isRefusedEnvironmentName(name: string): boolean {
  if (!ENVIRONMENT_NAME.test(name)) return true;
  const upper = name.toUpperCase();
  return REFUSED_NAMES.has(upper) || REFUSED_PREFIXES.some((prefix) => upper.startsWith(prefix));
}
