/** Says which files of a tree build, start or deploy it: containers, clusters, pipelines, tasks. Pure. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { directoryOf, endOf, nameOf } from "../imports/source-kinds.ts";

/** What kind of infrastructure a file is. */
export type InfrastructureKind =
  | "docker"
  | "compose"
  | "kubernetes"
  | "helm"
  | "terraform"
  | "ci"
  | "devcontainer"
  | "proxy"
  | "tasks";

const BY_NAME: readonly (readonly [RegExp, InfrastructureKind])[] = [
  [/^(?:dockerfile|containerfile)(?:\..{1,60})?$|\.dockerfile$/i, "docker"],
  [/^(?:docker-)?compose(?:[.-][\w.-]{1,60})?\.ya?ml$/i, "compose"],
  [/^chart\.yaml$/i, "helm"],
  [
    /^(?:\.gitlab-ci\.yml|jenkinsfile|azure-pipelines\.yml|\.travis\.yml|bitbucket-pipelines\.yml|\.drone\.yml|cloudbuild\.yaml)$/i,
    "ci",
  ],
  [/^kustomization\.ya?ml$/i, "kubernetes"],
  [/^(?:makefile|justfile|taskfile\.ya?ml|procfile)$/i, "tasks"],
  [/^(?:nginx\.conf|caddyfile|haproxy\.cfg|traefik\.(?:ya?ml|toml))$/i, "proxy"],
  [/^devcontainer\.json$/i, "devcontainer"],
];
const CI_DIRECTORIES = /(?:^|\/)(?:\.github\/workflows|\.circleci|\.forgejo\/workflows|\.gitea\/workflows)$/;
const CLUSTER_DIRECTORIES = /(?:^|\/)(?:k8s|kubernetes|manifests|helm|charts)(?:\/|$)/i;

/** The kind of the file at `path`, if it is infrastructure. */
export function infrastructureKind(path: string): InfrastructureKind | undefined {
  const name = nameOf(path);
  const byName = BY_NAME.find(([pattern]) => pattern.test(name));
  if (byName) return byName[1];
  const directory = directoryOf(path);
  const end = endOf(path);
  if (end === "tf") return "terraform";
  if (end !== "yml" && end !== "yaml") return undefined;
  if (CI_DIRECTORIES.test(directory)) return "ci";
  return CLUSTER_DIRECTORIES.test(directory) ? "kubernetes" : undefined;
}

/** Bytes of a compose file that is read. */
export const COMPOSE_BYTES_MAX = 64 * 1024;
/** Services of one compose file. */
const SERVICES_MAX = 100;

/** A service of a compose file: where it is built, and which others it waits for. */
export interface ComposeService {
  readonly name: string;
  /** The directory that it is built from, as it is written. */
  readonly build?: string;
  readonly dependsOn: readonly string[];
}

/** The services of a compose file; nothing where it cannot be read. */
export async function composeServices(text: string): Promise<readonly ComposeService[] | undefined> {
  const { parseDocument } = await import("yaml");
  try {
    const document = parseDocument(text, { uniqueKeys: false });
    if (document.errors.length > 0) return undefined;
    const read: unknown = document.toJS({ maxAliasCount: 100 });
    const services = objectIn(objectIn(read)["services"]);
    return Object.entries(services)
      .slice(0, SERVICES_MAX)
      .map(([name, service]) => serviceOf(name, objectIn(service)));
  } catch {
    return undefined; // no YAML, too many aliases or levels; the map says that it was not read
  }
}

function serviceOf(name: string, { build, depends_on: depends }: JsonObject): ComposeService {
  const context = typeof build === "string" ? build : objectIn(build)["context"];
  const dependsOn = Array.isArray(depends) ? depends.map(String) : Object.keys(objectIn(depends));
  return { name, ...(typeof context === "string" && { build: context }), dependsOn };
}

function objectIn(value: unknown): JsonObject {
  return isJsonObject(value as JsonValue) ? (value as JsonObject) : {};
}
