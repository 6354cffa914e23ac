/**
 * Configuration of package managers and build tools that decides what they run and where they fetch, whoever starts
 * them.
 */
import { obeyedFiles } from "./obeyed-file.ts";

const MSBUILD = [
  "Directory.Build.props Directory.Build.targets Directory.Build.rsp Directory.Solution.props",
  "Directory.Solution.targets Directory.Packages.props MSBuild.rsp *.user",
].join(" ");

/** Configuration of package managers. */
export const PACKAGE_MANAGER_FILES = obeyedFiles({
  "https://docs.npmjs.com/cli/v11/configuring-npm/npmrc": {
    ".npmrc": "npm and pnpm take registries, shells, scripts and the git program from it",
  },
  "https://yarnpkg.com/configuration/yarnrc": {
    ".yarnrc .yarnrc.yml": "Yarn runs the release and the plug-ins that it names, and fetches where it says",
  },
  "https://yarnpkg.com/getting-started/qa#which-files-should-be-gitignored": {
    "**/.yarn/releases **/.yarn/plugins **/.yarn/sdks": "Yarn and editors run the programs in it",
  },
  "https://yarnpkg.com/features/pnp": {
    ".pnp.cjs .pnp.js .pnp.loader.mjs": "Node and editors load it before everything else in a project of Yarn",
  },
  "https://pnpm.io/pnpmfile": { ".pnpmfile.cjs .pnpmfile.mjs pnpmfile.js": "pnpm runs it with every command" },
  "https://pnpm.io/settings": {
    "pnpm-workspace.yaml": "pnpm runs the plug-ins, shell and build scripts that its settings name, with every command",
  },
  "https://bun.com/docs/runtime/bunfig": {
    "bunfig.toml .bunfig.toml": "Bun loads the scripts that it names before every program",
  },
  "https://bower.io/docs/config": { ".bowerrc": "Bower runs the scripts that it names" },
  "https://github.com/nodejs/corepack#environment-variables": {
    ".corepack.env": "Corepack fetches package managers from where it says",
  },
  "https://doc.rust-lang.org/cargo/reference/config.html": {
    ".cargo": "Cargo takes linkers, wrappers, runners, registries and aliases from it, and runs them with every build",
  },
  "https://rust-lang.github.io/rustup/overrides.html#the-toolchain-file": {
    "rust-toolchain rust-toolchain.toml": "rustup runs the toolchain at the path that it names, or fetches it",
  },
  "https://pip.pypa.io/en/stable/topics/configuration": {
    "pip.conf pip.ini .pip": "pip fetches from the indexes that it names",
  },
  "https://packaging.python.org/en/latest/specifications/pypirc": {
    ".pypirc": "twine and others upload where it says, with its passwords",
  },
  "https://docs.astral.sh/uv/concepts/configuration-files": {
    "poetry.toml uv.toml pdm.toml .pdm.toml":
      "the package manager takes sources, interpreters and build settings from it",
  },
  "https://pdm-project.org/latest/usage/project": {
    ".pdm-python .pdm-plugins": "PDM runs the interpreter and the plug-ins that it names",
  },
  "https://setuptools.pypa.io/en/latest/deprecated/easy_install.html#configuration-files": {
    ".pydistutils.cfg pydistutils.cfg .buildout": "setuptools and buildout take commands and indexes from it",
  },
  "https://docs.python.org/3/library/site.html": {
    "sitecustomize.py usercustomize.py": "Python imports it before every program where the directory is on its path",
  },
  "https://docs.conda.io/projects/conda/en/stable/user-guide/configuration/use-condarc.html": {
    ".condarc condarc .mambarc **/.pixi/config.toml": "conda and its kin fetch from the channels that it names",
  },
  "https://bundler.io/man/bundle-config.1.html": {
    ".gemrc .bundle": "RubyGems and Bundler take sources, paths and plug-ins from it, and load the plug-ins",
  },
  "https://maven.apache.org/configure.html": {
    ".mvn .m2": "Maven loads its extensions, and takes arguments of the Java machine and mirrors from it",
  },
  "https://docs.gradle.org/current/userguide/build_environment.html": {
    "gradle.properties gradle-daemon-jvm.properties":
      "Gradle, which editors start, takes the Java that it runs, its arguments and init scripts from it",
  },
  "https://docs.gradle.org/current/userguide/gradle_wrapper.html": {
    "gradle-wrapper.properties gradle-wrapper.jar": "Gradle's wrapper and editors fetch and run what it names or holds",
  },
  "https://github.com/bazelbuild/bazelisk#readme": {
    "**/tools/bazel .bazeliskrc .bazelversion":
      "Bazelisk, which editors start, runs it in place of Bazel, or fetches the Bazel that it names",
  },
  "https://bazel.build/run/bazelrc": {
    ".bazelrc .aspect": "Bazel takes options from it, programs that it runs at every build included",
  },
  "https://buck2.build/docs/concepts/buckconfig": {
    ".buckconfig .buckconfig.local .buckconfig.d": "Buck takes aliases, tools and options from it at every build",
  },
  "https://www.scala-sbt.org/1.x/docs/Command-Line-Reference.html": {
    ".sbtopts .jvmopts": "sbt passes it to the Java machine as arguments",
  },
  "https://learn.microsoft.com/en-us/nuget/reference/nuget-config-file": {
    "NuGet.config .nuget": "NuGet fetches from the sources that it names",
  },
  "https://learn.microsoft.com/en-us/visualstudio/msbuild/customize-by-directory": {
    [MSBUILD]: "MSBuild takes it into every project below, and can run programs from it when an editor opens one",
  },
  "https://learn.microsoft.com/en-us/dotnet/core/tools/global-json": {
    "/global.json **/src/global.json **/test/global.json **/tests/global.json dotnet-tools.json":
      "dotnet chooses its SDK, that SDK's packages and local tools by it",
  },
  "https://docs.swift.org/swiftpm/documentation/packagemanagerdocs": {
    ".swiftpm": "SwiftPM takes registries and mirrors from it",
  },
  "https://developer.hashicorp.com/terraform/cli/config/config-file": {
    ".terraformrc terraform.rc .terraform": "Terraform runs the providers in it, and fetches where it says",
  },
  "https://docs.ansible.com/ansible/latest/reference_appendices/config.html": {
    "ansible.cfg .ansible.cfg .ansible": "Ansible loads the plug-ins and runs the programs that it names",
  },
  "https://getsops.io/docs": { ".sops.yaml": "SOPS encrypts secrets for the keys that it names" },
});
