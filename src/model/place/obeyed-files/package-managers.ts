/**
 * Configuration of package managers and build tools that decides what they run and where they fetch, whoever starts
 * them.
 */
import type { ObeyedFiles } from "./obeyed-file.ts";

/** Configuration of package managers. */
export const PACKAGE_MANAGER_FILES: readonly ObeyedFiles[] = [
  {
    patterns: [".npmrc"],
    reason: "npm and pnpm take registries, shells, scripts and the git program from it",
    source: "https://docs.npmjs.com/cli/v11/configuring-npm/npmrc",
  },
  {
    patterns: [".yarnrc", ".yarnrc.yml"],
    reason: "Yarn runs the release and the plug-ins that it names, and fetches where it says",
    source: "https://yarnpkg.com/configuration/yarnrc",
  },
  {
    patterns: ["**/.yarn/releases", "**/.yarn/plugins", "**/.yarn/sdks"],
    reason: "Yarn and editors run the programs in it",
    source: "https://yarnpkg.com/getting-started/qa#which-files-should-be-gitignored",
  },
  {
    patterns: [".pnp.cjs", ".pnp.js", ".pnp.loader.mjs"],
    reason: "Node and editors load it before everything else in a project of Yarn",
    source: "https://yarnpkg.com/features/pnp",
  },
  {
    patterns: [".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js"],
    reason: "pnpm runs it with every command",
    source: "https://pnpm.io/pnpmfile",
  },
  {
    patterns: ["pnpm-workspace.yaml"],
    reason: "pnpm runs the plug-ins, shell and build scripts that its settings name, with every command",
    source: "https://pnpm.io/settings",
  },
  {
    patterns: ["bunfig.toml", ".bunfig.toml"],
    reason: "Bun loads the scripts that it names before every program",
    source: "https://bun.com/docs/runtime/bunfig",
  },
  { patterns: [".bowerrc"], reason: "Bower runs the scripts that it names", source: "https://bower.io/docs/config" },
  {
    patterns: [".corepack.env"],
    reason: "Corepack fetches package managers from where it says",
    source: "https://github.com/nodejs/corepack#environment-variables",
  },
  {
    patterns: [".cargo"],
    reason: "Cargo takes linkers, wrappers, runners, registries and aliases from it, and runs them with every build",
    source: "https://doc.rust-lang.org/cargo/reference/config.html",
  },
  {
    patterns: ["rust-toolchain", "rust-toolchain.toml"],
    reason: "rustup runs the toolchain at the path that it names, or fetches it",
    source: "https://rust-lang.github.io/rustup/overrides.html#the-toolchain-file",
  },
  {
    patterns: ["pip.conf", "pip.ini", ".pip"],
    reason: "pip fetches from the indexes that it names",
    source: "https://pip.pypa.io/en/stable/topics/configuration",
  },
  {
    patterns: [".pypirc"],
    reason: "twine and others upload where it says, with its passwords",
    source: "https://packaging.python.org/en/latest/specifications/pypirc",
  },
  {
    patterns: ["poetry.toml", "uv.toml", "pdm.toml", ".pdm.toml"],
    reason: "the package manager takes sources, interpreters and build settings from it",
    source: "https://docs.astral.sh/uv/concepts/configuration-files",
  },
  {
    patterns: [".pdm-python", ".pdm-plugins"],
    reason: "PDM runs the interpreter and the plug-ins that it names",
    source: "https://pdm-project.org/latest/usage/project",
  },
  {
    patterns: [".pydistutils.cfg", "pydistutils.cfg", ".buildout"],
    reason: "setuptools and buildout take commands and indexes from it",
    source: "https://setuptools.pypa.io/en/latest/deprecated/easy_install.html#configuration-files",
  },
  {
    patterns: ["sitecustomize.py", "usercustomize.py"],
    reason: "Python imports it before every program where the directory is on its path",
    source: "https://docs.python.org/3/library/site.html",
  },
  {
    patterns: [".condarc", "condarc", ".mambarc", "**/.pixi/config.toml"],
    reason: "conda and its kin fetch from the channels that it names",
    source: "https://docs.conda.io/projects/conda/en/stable/user-guide/configuration/use-condarc.html",
  },
  {
    patterns: [".gemrc", ".bundle"],
    reason: "RubyGems and Bundler take sources, paths and plug-ins from it, and load the plug-ins",
    source: "https://bundler.io/man/bundle-config.1.html",
  },
  {
    patterns: [".mvn", ".m2"],
    reason: "Maven loads its extensions, and takes arguments of the Java machine and mirrors from it",
    source: "https://maven.apache.org/configure.html",
  },
  {
    patterns: ["gradle-wrapper.properties", "gradle-wrapper.jar"],
    reason: "Gradle's wrapper and editors fetch and run what it names or holds",
    source: "https://docs.gradle.org/current/userguide/gradle_wrapper.html",
  },
  {
    patterns: ["**/tools/bazel", ".bazeliskrc", ".bazelversion"],
    reason: "Bazelisk, which editors start, runs it in place of Bazel, or fetches the Bazel that it names",
    source: "https://github.com/bazelbuild/bazelisk#readme",
  },
  {
    patterns: [".bazelrc"],
    reason: "Bazel takes options from it, programs that it runs at every build included",
    source: "https://bazel.build/run/bazelrc",
  },
  {
    patterns: [".sbtopts", ".jvmopts"],
    reason: "sbt passes it to the Java machine as arguments",
    source: "https://www.scala-sbt.org/1.x/docs/Command-Line-Reference.html",
  },
  {
    patterns: ["NuGet.config", ".nuget"],
    reason: "NuGet fetches from the sources that it names",
    source: "https://learn.microsoft.com/en-us/nuget/reference/nuget-config-file",
  },
  {
    patterns: [
      "Directory.Build.props",
      "Directory.Build.targets",
      "Directory.Build.rsp",
      "Directory.Solution.props",
      "Directory.Solution.targets",
      "MSBuild.rsp",
    ],
    reason: "MSBuild takes it into every project below, and can run programs from it when an editor opens one",
    source: "https://learn.microsoft.com/en-us/visualstudio/msbuild/customize-by-directory",
  },
  {
    patterns: ["/global.json", "dotnet-tools.json"],
    reason: "dotnet chooses its SDK, that SDK's packages and local tools by it",
    source: "https://learn.microsoft.com/en-us/dotnet/core/tools/global-json",
  },
  {
    patterns: [".swiftpm"],
    reason: "SwiftPM takes registries and mirrors from it",
    source: "https://docs.swift.org/swiftpm/documentation/packagemanagerdocs",
  },
  {
    patterns: [".terraformrc", "terraform.rc", ".terraform"],
    reason: "Terraform runs the providers in it, and fetches where it says",
    source: "https://developer.hashicorp.com/terraform/cli/config/config-file",
  },
  {
    patterns: ["ansible.cfg", ".ansible.cfg", ".ansible"],
    reason: "Ansible loads the plug-ins and runs the programs that it names",
    source: "https://docs.ansible.com/ansible/latest/reference_appendices/config.html",
  },
  {
    patterns: [".sops.yaml"],
    reason: "SOPS encrypts secrets for the keys that it names",
    source: "https://getsops.io/docs",
  },
];
