/** Projects of cargo and go. */
import { CARGO_ENVIRONMENT, GO_ENVIRONMENT } from "./environment.ts";
import { type ProjectKind, TAKES_NO_NAMES } from "./project.ts";
import type { Target } from "./target.ts";

/**
 * cargo tests and lints packages; of files it knows those of `tests/` by their names. Dependencies were fetched before:
 * there is no network.
 */
export const cargoProject: ProjectKind = (files, purpose) => {
  if (files["Cargo.toml"] === undefined) return undefined;
  const command =
    purpose === "test"
      ? (["cargo", "test", "--offline"] as const)
      : (["cargo", "clippy", "--offline", "--all-targets"] as const);
  return {
    kind: "command",
    runner: "cargo",
    from: ["Cargo.toml"],
    environment: CARGO_ENVIRONMENT,
    commandFor: (target) => {
      if (target === undefined) return command;
      const option = target.names === undefined ? cargoOption(target.path) : TAKES_NO_NAMES;
      return option.startsWith("--") ? [...command, option] : option;
    },
  };
};

function cargoOption(path: string): string {
  const [, directory = "", name] = /^((?:[^/]+\/)*)tests\/([^/]+)\.rs$/.exec(path) ?? [];
  if (name !== undefined && directory === "") return `--test=${name}`;
  if (path.endsWith(".rs"))
    return "cargo looks at whole packages, and at files of tests/; name a package's directory, or leave the target out";
  return `--manifest-path=${path}/Cargo.toml`;
}

/** go tests and vets packages, which are directories; golangci-lint where the project has settings for it. */
export const goProject: ProjectKind = (files, purpose) => {
  if (files["go.mod"] === undefined) return undefined;
  const settings = ([".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"] as const).find(
    (name) => files[name],
  );
  const [runner, command] =
    purpose === "test"
      ? (["go", ["go", "test"]] as const)
      : settings
        ? (["golangci-lint", ["golangci-lint", "run"]] as const)
        : (["go", ["go", "vet"]] as const);
  return {
    kind: "command",
    runner,
    from: purpose === "lint" && settings ? ["go.mod", settings] : ["go.mod"],
    environment: GO_ENVIRONMENT,
    commandFor: (target) => (target?.names === undefined ? [...command, packagesOf(target)] : TAKES_NO_NAMES),
  };
};

/** The packages of a directory with all below it; of a file its own one. */
function packagesOf(target: Target | undefined): string {
  if (target === undefined) return "./...";
  const path = target.path.replace(/^\.\//, "");
  if (!path.endsWith(".go")) return path === "." ? "./..." : `./${path}/...`;
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "." : `./${path.slice(0, slash)}`;
}
