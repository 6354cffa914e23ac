// Names of variables that decide which code runs are refused in any spelling; names that only inform are not.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRefusedEnvironmentName } from "../../src/names/environment-names.ts";

const REFUSED = [
  ...[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "HOME",
    "SHELL",
    "BASH_FUNC_ls%%",
  ],
  ...[
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "MALLOC_CHECK_",
  ],
  ...[
    "GIT_DIR",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_COUNT",
    "GIT_EXTERNAL_DIFF",
    "SSH_ASKPASS",
    "EDITOR",
    "PAGER",
    "LESSOPEN",
  ],
  ...[
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "npm_config_registry",
    "NPM_CONFIG_SCRIPT_SHELL",
    "YARN_RC_FILENAME",
  ],
  ...[
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTEST_ADDOPTS",
    "PIP_INDEX_URL",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYOPT",
    "RUBYLIB",
  ],
  ...["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "MAVEN_OPTS"],
  ...[
    "CARGO_HOME",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "RUSTC",
    "RUSTC_WRAPPER",
    "GOFLAGS",
    "GOPROXY",
    "GOTOOLCHAIN",
    "MAKEFLAGS",
    "MAKEFILES",
    "CC",
  ],
  ...[
    "HTTP_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "TAR_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "DOCKER_HOST",
    "HANDRAIL_TOKEN",
  ],
];
const REFUSED_BY_RUNTIME = [
  ...[
    "POSIXLY_CORRECT",
    "BASH_LOADABLES_PATH",
    "BASH_XTRACEFD",
    "npm_execpath",
    "npm_node_execpath",
    "COREPACK_NPM_REGISTRY",
  ],
  ...[
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTUP_TOOLCHAIN",
    "GOCACHEPROG",
    "GOAUTH",
    "GOPATH",
    "GOWORK",
    "GOPRIVATE",
    "PKG_CONFIG",
    "PKG_CONFIG_PATH",
  ],
  ...[
    "PYTHONPYCACHEPREFIX",
    "PYTHON_PRESITE",
    "COVERAGE_PROCESS_START",
    "UV_INDEX_URL",
    "POETRY_REPOSITORIES_X_URL",
    "NODE_COMPILE_CACHE",
  ],
  ...[
    "TS_NODE_COMPILER",
    "LUA_INIT_5_4",
    "LUA_CPATH_5_4",
    "BUNDLE_PATH",
    "GEM_HOME",
    "RUBYGEMS_GEMDEPS",
    "COMPOSER_HOME",
    "ERL_AFLAGS",
  ],
  ...[
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "COMPlus_Profiler",
    "CMAKE_TOOLCHAIN_FILE",
    "CCACHE_PREFIX",
    "CPATH",
    "LIBRARY_PATH",
    "AWKPATH",
    "LESS",
  ],
];
const HARMLESS = [
  "CI",
  "NO_COLOR",
  "FORCE_COLOR",
  "DEBUG",
  "TZ",
  "LANG",
  "LC_ALL",
  "NODE_ENV",
  "PORT",
  "DATABASE_URL",
  "RUST_BACKTRACE",
  "GO111MODULE",
  "GOOS",
  "GOARCH",
  "CGO_ENABLED",
  "PYTHONUNBUFFERED",
  "PYTHONDONTWRITEBYTECODE",
  "PYTHONHASHSEED",
  "RUST_LOG",
  "LESSON",
  "X",
  "_x1",
];
const NO_NAMES = ["", "1A", "A-B", "A B", "A=B", "A\0", "A\n", "ÄB", "A.B", "A%%", "A()", " PATH", "PATH "];

describe("names of environment variables", () => {
  test.each([...REFUSED, ...REFUSED_BY_RUNTIME])("%s is refused, in any case", (name) => {
    for (const spelt of [name, name.toLowerCase(), name.toUpperCase()])
      expect([spelt, isRefusedEnvironmentName(spelt)]).toEqual([spelt, true]);
  });

  test.each(HARMLESS)("%s may be set", (name) => {
    expect(isRefusedEnvironmentName(name)).toBe(false);
  });

  test.each(NO_NAMES)("%j is no name", (name) => {
    expect(isRefusedEnvironmentName(name)).toBe(true);
  });

  test("whatever the letters' case, the answer is the same", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...REFUSED, ...HARMLESS),
        fc.array(fc.boolean(), { minLength: 32, maxLength: 32 }),
        (name, cases) => {
          const spelt = [...name]
            .map((letter, index) => (cases[index] === true ? letter.toUpperCase() : letter.toLowerCase()))
            .join("");
          expect(isRefusedEnvironmentName(spelt)).toBe(isRefusedEnvironmentName(name));
        },
      ),
    );
  });
});
