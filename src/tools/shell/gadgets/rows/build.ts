/**
 * Gadgets of compilers, linkers and builders. What a project's own files say is plain use of a builder.
 */
import { edits, type Gadget, leaves, loads, runs, starts, type ValueLetters } from "./gadget.ts";

const COMPILERS = "gcc g++ cc c++ cpp clang clang++ gfortran gnat gdc gccgo c89 c99 tcc icc icx";
/** A file with options. */
const RESPONSE = /^@/;

/** An output of a language that protoc does not bring itself: it starts `protoc-gen-NAME`. */
const PROTOC_PLUGIN =
  /^--(?!(?:cpp|csharp|java|kotlin|objc|php|pyi|python|ruby|rust|upb|descriptor_set|dependency)_)[\w-]+_(?:out|opt)(?:=|$)/;

/** Variables that rules of make name programs by, with more than the name of a compiler or tool. */
const MAKE_PROGRAM =
  /^(?:(?:HOST|BUILD|TARGET)_?)?(?:AR|AS|AWK|BASH|CARGO|CC|CMAKE|CPP|CTANGLE|CURL|CWEAVE|CXX|DOCKER|EDITOR|FC|F77|GET|GIT|GO|INSTALL|JAVA|JAVAC|LAUNCHER|LD|LEX|LINT|M2C|MAKEINFO|NASM|NINJA|NM|NODE|NPM|NPX|OBJC|OBJCOPY|OBJDUMP|PC|PERL|PKG_CONFIG|PYTHON3?|RANLIB|RM|RUSTC|SED|STRIP|TANGLE|TEX|TEXI2DVI|WEAVE|WRAPPER|YACC|\w+_WRAPPER|\w+_LAUNCHER)[:?+]*=(?!(?:[a-z0-9_]+-)*(?:ar|as|bison|byacc|cargo|cc|c\+\+|clang|clang\+\+|cpp|flex|g\+\+|gcc|gcc-(?:ar|nm|ranlib)|gfortran|go|javac|ld|ld\.lld|ld\.gold|lex|llvm-(?:ar|nm|ranlib|strip)|nasm|node|npm|nm|objcopy|objdump|pdflatex|perl|pkg-config|python|ranlib|rustc|strip|tcc|yacc)(?:-?\d[\d.]*)?$)/;

/** Cargo's own verbs, and those that rustup brings. */
const CARGO_VERBS =
  /^(?:\+[\w.-]+(?: |$))?(?:$|(?:add|b|bench|build|c|check|clean|clippy|config|d|doc|fetch|fix|fmt|generate-lockfile|help|info|init|install|locate-project|login|logout|metadata|miri|new|owner|package|pkgid|publish|r|read-manifest|remove|report|rm|run|rustc|rustdoc|search|t|test|tree|uninstall|update|vendor|verify-project|version|yank)(?: |$))/;

/** Compilers and builders. */
export const BUILD: readonly Gadget[] = [
  starts(COMPILERS, "gcc(1)", { options: "-wrapper -B -specs --ld-path --gcc-toolchain -ccc-gcc-name --driver-mode" }),
  starts(COMPILERS, "gcc(1), clang(1)", { words: /^-B.|^-fuse-ld=.*\/|^@|^-specs/, by: "-B, -fuse-ld or @file" }),
  loads(COMPILERS, "gcc(1), clang(1)", { options: "-fplugin -fpass-plugin -load -Xclang -Xlinker --config" }),
  loads(COMPILERS, "gcc(1)", { words: /^-fplugin|^-Wl,.*plugin/, by: "-fplugin or -Wl,-plugin" }),
  loads("ld lld mold gold ld.lld", "ld(1)", {
    options: "-plugin -plugin-opt --load-pass-plugin",
    words: RESPONSE,
    by: "@file",
  }),
  starts("windres", "windres(1)", { options: "--preprocessor --preprocessor-arg" }),
  starts("dlltool", "dlltool(1)", { options: "-S --as" }),
  starts("rustc clippy-driver", "rustc(1)", {
    words: /linker(?:-plugin-lto|-flavor)?=|codegen-backend=/,
    by: "-C linker",
  }),
  loads("rustc clippy-driver", "rustc(1)", { options: "--extern --sysroot", words: RESPONSE, by: "@file" }),
  starts("rustdoc", "rustdoc(1)", { options: "--test-builder --runtool --test-runtool --test-builder-wrapper " }),
  starts("cargo", "cargo(1)", { options: "--config", words: /linker=|codegen-backend=/, by: "linker=" }),
  starts("cargo", "cargo(1)", { verbs: "login, logout, owner, publish, yank" }),
  starts("cargo", "cargo(1): it starts cargo-NAME", {
    always: true,
    unlessVerb: CARGO_VERBS,
    leading: "-q --quiet -v -vv --verbose --locked --offline --frozen --list -V -h --color= -Z= -C= --config=",
    by: "with a verb that may be an alias or a program",
  }),
  starts("go", "go help build", { options: "-exec -toolexec -vettool -overlay -gccgoflags" }),
  starts("go", "go help", { verbs: "generate, tool, bug, env -w" }),
  starts("go", "go tool link", {
    words: /-extld|-linkmode|-extldflags|@(?:v?\d|latest)/,
    by: "-extld or a module's version",
  }),
  runs("make gmake bmake remake", "make(1)", {
    options: "--eval -E",
    words: /^\.?(?:SHELL|SHELLFLAGS|MAKEFLAGS|MAKE|MAKEFILES|MAKESHELL)[:?+]*=/,
    by: "SHELL=",
  }),
  starts("make gmake bmake remake", "make(1): implicit variables", {
    words: MAKE_PROGRAM,
    by: "a variable such as CC=",
  }),
  runs("make gmake bmake remake", "make(1): values are expanded, and go to a shell", {
    words: /^[\w.-]+\s*(?:!=|[:?+]*=[\s\S]*[`$;|&<>()\n])/,
    by: "a variable with a text for a shell",
  }),
  runs("cmake", "cmake(1)", { options: "-P -E -C --open --debugger --toolchain" }),
  starts("cmake", "cmake-variables(7)", {
    words: /(?:COMPILER|LAUNCHER|LINKER|EMULATOR|PROGRAM|COMMAND|TOOLCHAIN|INCLUDE|MODULE_PATH)\w*(?::\w+)?=/,
    by: "-D…COMPILER=",
  }),
  runs("ctest", "ctest(1)", {
    options: "-S -SP -SC --script --script-new-process --test-command --build-and-test --build-makeprogram",
  }),
  starts("ninja samu", "ninja(1)", { options: "-t" }),
  starts("meson", "meson(1)", {
    verbs: "devenv, subprojects foreach, --internal",
    options: "--wrapper --wrap --gdb --gdb-path --native-file --cross-file",
  }),
  starts("bazel bazelisk", "bazel help", {
    options:
      "--run_under --shell_executable --bazelrc --host_jvm_args --workspace_status_command --credential_helper --python_path --extra_toolchains",
    verbs: "run, mobile-install",
  }),
  leaves("bazel bazelisk", "bazel help", { options: "--remote_executor --remote_cache --bes_backend" }),
  runs("scons waf", "scons(1)", { options: "--site-dir --debug --interactive" }),
  runs("gradle gradlew", "gradle(1)", {
    options:
      "-I --init-script -b --build-file -c --settings-file -D --system-prop -g --gradle-user-home --include-build",
  }),
  starts("mvn mvnw", "mvn(1)", {
    words:
      /^(?:[\w.-]+:)?(?:exec|antrun|groovy)\w*(?:-maven-plugin)?:|^(?:-D|--define=)?(?:exec\.|argLine|jvm=|maven\.(?:compiler\.executable|repo\.local|multiModuleProjectDirectory))|maven\.ext\.class\.path/,
    by: "exec:",
  }),
  starts("mvn mvnw", "mvn(1)", { options: "-s --settings -gs --global-settings -t --toolchains" }),
  leaves("mvn mvnw gradle gradlew", "mvn(1)", {
    verbs: "deploy, publish, release:perform, site:deploy",
    options: "--scan",
  }),
  starts("mvn mvnw", "mvn(1)", {
    words: /^(?!org\.apache\.maven\.plugins:)[\w.-]+:[\w.-]+:[\w.-]+/,
    by: "a plug-in by its coordinates",
  }),
  loads("ant", "ant(1)", { options: "-lib -logger -listener -inputhandler -main" }),
  loads("java javaw", "java(1)", {
    words: /^-(?:javaagent|agentlib|agentpath|-?Xrun)|^@|^-XX:(?:OnError|OnOutOfMemoryError|Flags|VMOptionsFile)/,
    by: "-javaagent or -XX:OnError",
  }),
  loads("java", "java(1)", { options: "--patch-module --upgrade-module-path" }),
  loads("javac", "javac(1)", {
    options: "-processor -processorpath -Xplugin --processor-path --processor-module-path",
    words: /^-J|^@|^-Xplugin/,
    by: "-J or -Xplugin",
  }),
  loads("kotlinc kotlin scalac scala groovyc", "kotlinc(1), scalac(1)", { words: /^-Xplugin|^-J/, by: "-Xplugin" }),
  loads("sbt mill", "sbt --help, mill --help", { options: "-sbt-jar -java-home --import", words: /^-J-/, by: "-J" }),
  runs("sbt lein mill", "sbt(1)", {
    words: /[;!]|^eval\b|^consoleProject|^console\b|^set\b/,
    by: "a command of its own language",
  }),
  runs("dotnet", "dotnet(1)", {
    verbs: "fsi, exec, tool, run-api, nuget push, new install, workload install",
    options: "--additionalprobingpath --depsfile --additional-deps",
  }),
  loads("dotnet msbuild vstest.console", "dotnet-test(1)", {
    options: "--test-adapter-path --settings --collect --test-modules",
    words: /^[-/]{1,2}p(?:roperty)?[:=].*(?:Custom(?:Before|After)\w*|Tool(?:Path|Exe)|Import\w*|Targets\w*)=/i,
    by: "a property that names a program or targets",
  }),
  loads("dotnet msbuild", "msbuild(1)", { words: /^[-/]{1,2}(?:l|logger|dl|distributedlogger)[:=]|^@/, by: "-logger" }),
  runs("swift", "swift(1)", { verbs: "repl, package plugin, run", options: "-e -load-plugin-library -plugin-path" }),
  loads("swift swiftc", "swiftc(1)", {
    options:
      "-load-plugin-executable -load-plugin-library -external-plugin-path --toolchain -tools-directory -Xfrontend",
  }),
  starts("xcrun", "xcrun(1)", { always: true }),
  runs("bison yacc", "bison(1): skeletons are programs for m4", { options: "-S --skeleton -F --force-define" }),
  starts("m4 gm4", "m4(1)", { words: /syscmd/, input: true, by: "esyscmd" }),
  runs("m4 gm4", "m4(1): its files may hold syscmd", {
    operands: "-D -U -I -L -B -H -S -l -o -d -t -s --define --undefine --include",
    by: "a file",
  }),
  starts("ctags etags", "ctags(1)", { options: "--options --options-maybe --optlib-dir" }),
  edits("cscope", "cscope(1)", { always: true, unless: "-L, -b, -R" }),
  starts("help2man", "help2man(1)", { always: true }),
  loads("webpack rollup vite esbuild parcel swc babel", "rollup --help", {
    options: "--plugin --plugins -p --require --preset --presets --configPlugin",
  }),
  starts("protoc", "protoc --help", { options: "--plugin", words: PROTOC_PLUGIN, by: "--NAME_out" }),
  starts("buf", "buf generate --help: a template names plug-ins", { options: "--template" }),
  starts("capnp", "capnp help compile", { options: "-o --output" }),
  starts("just", "just(1)", { options: "--shell --shell-arg --command -c --choose --chooser --edit -e --cygpath" }),
  starts("lerna nx turbo rush wireit", "lerna exec", { verbs: "exec, run-commands" }),
  starts("forge", "forge(1)", { options: "--use --ffi", verbs: "script" }),
  runs("cobc", "cobc(1)", { options: "-j -x" }),
  starts("zic", "zic(8)", { options: "-y" }),
];

/** Letters that take a value. */
export const BUILD_VALUES: ValueLetters = {
  gcc: "xolLIDUfWOgm",
  "g++": "xolLIDUfWOgm",
  cc: "xolLIDUfWOgm",
  "c++": "xolLIDUfWOgm",
  cpp: "xolLIDUfWOgm",
  clang: "xolLIDUfWOgm",
  "clang++": "xolLIDUfWOgm",
  gfortran: "xolLIDUfWOgmJ",
  make: "CfIjloW",
  gmake: "CfIjloW",
  cmake: "BDGSATU",
  ctest: "CjRELITDMOAU",
  gradle: "pPgx",
  mvn: "DPfpl",
};
