/**
 * Defines the manager for cargo: `cargo fetch`, begun outside the workspace with a home of its own.
 *
 * Cargo and rustup look for configuration and toolchains where they begin, above that, and in their home. Nothing of
 * the workspace lies there.
 *
 * INVARIANTS: crates come from a granted registry with a checksum. Of the home only `registry` outlives the run, and it
 * holds no configuration. Fetching builds nothing: what `build.rs` and procedural macros do happens in tests, which
 * have no network.
 */
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { WORKSPACE_ALIAS } from "../../../model/place/workspace.ts";
import { type Grants, type Manager, refused, requireText } from "./installation.ts";
import { addressProblem, SOURCE_ADVICE } from "./sources.ts";
import { parsedToml, toml } from "./toml.ts";

const MANIFEST = "Cargo.toml";
/** Private to the run, and empty when it begins. */
const OUTSIDE = "/tmp";

/** cargo. */
export const cargo: Manager = {
  lockFiles: ["Cargo.lock"],
  lockedBy: "cargo generate-lockfile",
  command: () => ["cargo", "fetch", "--locked", `--manifest-path=${WORKSPACE_ALIAS}/${MANIFEST}`],
  runsScripts: false,
  registries: ["index.crates.io", "static.crates.io"],
  manifests: [MANIFEST],
  furtherManifests: () => [],
  words: () => [],
  async prepare(files, lockFile, grants) {
    const text = requireText(files, lockFile);
    const { package: packages = [] } = parsedToml(await toml(), lockFile, text);
    for (const entry of Array.isArray(packages) ? packages : [packages]) {
      const { name } = isJsonObject(entry) ? entry : {};
      const problem = isJsonObject(entry) ? problemOf(entry, grants) : "is described by no table";
      if (problem !== undefined) {
        throw refused(
          lockFile,
          `names the crate \`${String(name).slice(0, 200).toWellFormed()}\`, which ${problem}`,
          SOURCE_ADVICE,
        );
      }
    }
    return {
      environment: { CARGO_HOME: OUTSIDE, CARGO_NET_GIT_FETCH_WITH_CLI: "false" },
      selection: {
        rest: "read_only",
        files: [{ path: lockFile, text }],
        directories: [{ path: "target/cargo-home/registry", at: `${OUTSIDE}/registry` }],
        workDir: OUTSIDE,
      },
    };
  },
};

/** The names under which lock files know the public registry, and where it is reached. */
const PUBLIC_NAMES: readonly unknown[] = [
  "registry+https://github.com/rust-lang/crates.io-index",
  "sparse+https://index.crates.io/",
];
const PUBLIC_ADDRESS = "https://index.crates.io/";

const CHECKSUM = /^[0-9a-f]{64}$/;

function problemOf({ source, checksum, replace }: JsonObject, grants: Grants): string | undefined {
  if (replace !== undefined) return "is replaced by another one";
  if (source === undefined) return undefined; // a package of the workspace
  const [, kind, address = ""] = /^([a-z]+)\+(.*)$/s.exec(String(source)) ?? [];
  if (kind !== "registry" && kind !== "sparse") return "comes from no registry";
  const problem = addressProblem(PUBLIC_NAMES.includes(source) ? PUBLIC_ADDRESS : address, grants);
  return problem ?? (typeof checksum === "string" && CHECKSUM.test(checksum) ? undefined : "has no checksum");
}
