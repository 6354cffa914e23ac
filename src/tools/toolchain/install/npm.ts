/**
 * Defines the manager for npm: `npm ci` in a selection with judged manifests and a judged lock file.
 *
 * The selection holds nothing else but the directories that the command fills.
 *
 * INVARIANT: no file of the workspace decides which program runs: configuration and scripts are not in the selection,
 * and no program stands for git.
 */
import type { JsonObject } from "../../../base/json.ts";
import { type Grants, type InstallFiles, type Manager, requireJson, requireText } from "./installation.ts";
import { judgeNpmConfiguration, NPM_CONFIGURATION } from "./npm-configuration.ts";
import { judgeNpmLock, lockedMembers, lockedPackages } from "./npm-lock.ts";

const MANIFEST = "package.json";

/** What npm needs of a manifest to follow a lock file: no scripts, no manager of its own choice, no settings. */
const KEPT_FIELDS = [
  ..."name version private workspaces bin engines os cpu libc overrides peerDependenciesMeta".split(" "),
  ..."dependencies devDependencies optionalDependencies peerDependencies".split(" "),
  ..."bundleDependencies bundledDependencies".split(" "),
];

/**
 * What npm goes by besides: no configuration of a user or of the machine, and nothing that could stand for git. The two
 * names differ, because npm refuses to read one file twice; nothing is there.
 */
const OWN_SETTINGS = {
  npm_config_userconfig: "/tmp/.no-user-npmrc",
  npm_config_globalconfig: "/tmp/.no-global-npmrc",
  npm_config_git: "/bin/false",
  npm_config_script_shell: "/bin/sh",
  COREPACK_ENABLE_NETWORK: "0",
} as const;

/** npm. */
export const npm: Manager = {
  // As npm prefers them.
  lockFiles: ["npm-shrinkwrap.json", "package-lock.json"],
  lockedBy: "npm install --package-lock-only",
  command: (scripts) => ["npm", "ci", ...(scripts ? [] : ["--ignore-scripts"]), "--no-audit", "--no-fund"],
  runsScripts: true,
  registries: ["registry.npmjs.org"],
  manifests: [MANIFEST, NPM_CONFIGURATION],
  furtherManifests: (files, lockFile) =>
    lockedMembers(files[lockFile]?.text ?? "").map((member) => `${member}/${MANIFEST}`),
  words: (files, lockFile) => {
    const count = Object.keys(lockedPackages(files[lockFile]?.text ?? "") ?? {}).length;
    const configuration = files[NPM_CONFIGURATION]?.text;
    return [
      { path: lockFile, text: `entries: ${count}` },
      ...(configuration === undefined ? [] : [{ path: NPM_CONFIGURATION, text: configuration }]),
    ];
  },
  prepare(files, lockFile, grants) {
    const lock = judgeNpmLock(lockFile, requireText(files, lockFile), grants);
    const configured = files[NPM_CONFIGURATION]
      ? judgeNpmConfiguration(requireText(files, NPM_CONFIGURATION), grants)
      : {};
    const manifests = [MANIFEST, ...lock.members.map((member) => `${member}/${MANIFEST}`)];
    return {
      environment: { ...configured, ...OWN_SETTINGS, ...registryOf(grants) },
      selection: {
        rest: "nothing",
        files: [
          { path: lockFile, text: lock.text },
          ...manifests.map((path) => ({ path, text: keptManifest(files, path) })),
        ],
        directories: lock.moduleDirectories.map((path) => ({ path })),
      },
    };
  },
};

/**
 * Only for packages whose address the lock file leaves out: npm would ask the public registry, which is not reached
 * where the operator named another.
 */
function registryOf({ registries: [first], isOwn }: Grants): Readonly<Record<string, string>> {
  if (!isOwn || first === undefined) return {};
  return { npm_config_registry: `${first.port === 80 ? "http" : "https"}://${first.host}:${first.port}/` };
}

function keptManifest(files: InstallFiles, path: string): string {
  const manifest = requireJson(path, requireText(files, path));
  const kept: JsonObject = Object.fromEntries(
    KEPT_FIELDS.flatMap((name) => (Object.hasOwn(manifest, name) ? [[name, manifest[name] ?? null]] : [])),
  );
  return JSON.stringify(kept);
}
