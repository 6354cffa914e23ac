/**
 * `poetry install` in a selection that holds nothing but a judged manifest, a judged lock file and a new environment.
 *
 * INVARIANTS: no build runs unless the operator allows packages their scripts: of each package poetry knows the wheels
 * alone, whatever its version; the project itself is not installed, because its own build would run; an environment
 * that commands may have written to is not used.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { type Grants, type Manager, refused, requireText } from "./installation.ts";
import { addressProblem, SOURCE_ADVICE } from "./sources.ts";
import { parsedToml, type TomlCodec, toml } from "./toml.ts";

const MANIFEST = "pyproject.toml";
const ENVIRONMENT = ".venv";
/** Where packages come from whose lock entry names no source. */
const PUBLIC_INDEX = "https://pypi.org/simple/";

/** What poetry needs of the manifest, by table: no plugins, no scripts, no build. */
const KEPT_FIELDS = {
  project: ["name", "version", "description", "dynamic", "requires-python", "dependencies", "optional-dependencies"],
  poetry: [
    ...["name", "version", "description", "authors", "package-mode", "source"],
    ...["dependencies", "dev-dependencies", "group", "extras"],
  ],
} as const;

/** poetry. */
export const poetry: Manager = {
  lockFiles: ["poetry.lock"],
  lockedBy: "poetry lock",
  command: () => ["poetry", "install", "--no-root", "--no-interaction"],
  runsScripts: true,
  registries: ["pypi.org", "files.pythonhosted.org"],
  manifests: [MANIFEST],
  furtherManifests: () => [],
  words: () => [],
  async prepare(files, lockFile, grants) {
    const codec = await toml();
    const manifest = keptManifest(codec, requireText(files, MANIFEST), grants);
    const lock = judgedLock(codec, { file: lockFile, text: requireText(files, lockFile) }, grants);
    return {
      environment: { ...OWN_SETTINGS, ...(!grants.scripts && { POETRY_INSTALLER_ONLY_BINARY: ":all:" }) },
      selection: {
        rest: "nothing",
        files: [
          { path: MANIFEST, text: manifest },
          { path: lockFile, text: lock },
        ],
        directories: [{ path: ENVIRONMENT, isNew: true }],
      },
    };
  },
};

/**
 * The environment lies in the project, because everything else is gone with the run. pip has no settings, and no
 * keyring is asked.
 */
const OWN_SETTINGS = {
  POETRY_VIRTUALENVS_IN_PROJECT: "true",
  POETRY_VIRTUALENVS_CREATE: "true",
  POETRY_KEYRING_ENABLED: "false",
  PIP_CONFIG_FILE: "/dev/null",
} as const;

function keptManifest(codec: TomlCodec, text: string, grants: Grants): string {
  const { project, "dependency-groups": groups, tool } = parsedToml(codec, MANIFEST, text);
  const own = isJsonObject(tool) && isJsonObject(tool["poetry"]) ? tool["poetry"] : undefined;
  for (const source of tablesOf(own?.["source"])) {
    const { url } = source;
    const problem = url === undefined ? undefined : addressProblem(String(url), grants);
    if (problem !== undefined) throw refused(MANIFEST, `names a source that ${problem}`, SOURCE_ADVICE);
  }
  return codec.stringify({
    ...(isJsonObject(project) && { project: only(project, KEPT_FIELDS.project) }),
    ...(groups !== undefined && { "dependency-groups": groups }),
    ...(own && { tool: { poetry: only(own, KEPT_FIELDS.poetry) } }),
  });
}

function only(table: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(table).filter(([name]) => names.includes(name)));
}

/** The lock file with the files of each package that may be installed. */
function judgedLock(
  codec: TomlCodec,
  { file, text }: { readonly file: string; readonly text: string },
  grants: Grants,
): string {
  const lock = parsedToml(codec, file, text);
  const packages = tablesOf(lock["package"]).map((entry) => {
    const { name, files, source } = entry;
    const found = installable(files, grants);
    const problem = sourceProblem(source, grants) ?? (typeof found === "string" ? found : undefined);
    if (problem !== undefined)
      throw refused(
        file,
        `names the package \`${String(name).slice(0, 200).toWellFormed()}\`, which ${problem}`,
        SOURCE_ADVICE,
      );
    return { ...entry, files: found };
  });
  return codec.stringify({ ...lock, package: packages });
}

function sourceProblem(source: JsonValue | undefined, grants: Grants): string | undefined {
  if (source === undefined) return addressProblem(PUBLIC_INDEX, grants);
  if (!isJsonObject(source)) return "has a source that cannot be read";
  const { type, url } = source;
  if (type !== "legacy")
    return "comes from no package index: what git, directories and archives hold is built by programs of its own";
  return addressProblem(String(url), grants);
}

const HASH = /^sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})$/;
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.+!-]*$/;

/** The files of a package that are installed without a build, or what is wrong with them. */
function installable(files: JsonValue | undefined, { scripts }: Grants): readonly JsonObject[] | string {
  const known = tablesOf(files);
  const isWhole = known.every(({ file, hash }) => FILE_NAME.test(String(file)) && HASH.test(String(hash)));
  if (known.length === 0 || !isWhole) return "has no files with hashes; renew the lock file with `poetry lock`";
  const usable = scripts ? known : known.filter(({ file }) => String(file).endsWith(".whl"));
  return usable.length > 0
    ? usable
    : "has no wheel, and building it runs programs: the operator allows that with `toolchain.install.scripts`";
}

function tablesOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
