/**
 * Judges the address from which a lock file says that a package comes.
 *
 * Only a granted registry passes. For anything else the answer is the reason why not. The functions are pure.
 */
import type { Grants } from "./installation.ts";

const HTTPS_PORT = 443;
const HTTP_PORT = 80;

/**
 * What is wrong with fetching from `address`, as the rest of a sentence about a package, or `undefined`.
 * What the operator named may be plain HTTP: the hash in the lock file says what is fetched, whoever sends it.
 */
export function addressProblem(address: string, { registries, isOwn }: Grants): string | undefined {
  // What parsers disagree about is no address.
  if (/[\\\s\p{Cc}]/u.test(address) || !URL.canParse(address)) return "comes from what is no address";
  const { protocol, hostname, port, username, password } = new URL(address);
  if (protocol !== "https:" && !(protocol === "http:" && isOwn))
    return `comes by \`${protocol}\`, and packages are fetched by https alone`;
  if (username !== "" || password !== "") return "comes from an address with a login in it";
  const number = port === "" ? (protocol === "https:" ? HTTPS_PORT : HTTP_PORT) : Number(port);
  if (registries.some((granted) => granted.host === hostname && granted.port === number)) return undefined;
  return `comes from \`${hostname}${port === "" ? "" : `:${port}`}\`, which is no registry that this installation may reach`;
}

/** What to do about a package whose source is refused. */
export const SOURCE_ADVICE =
  "ask a person to lock that package from a granted registry, or the operator to name its registry under `toolchain.install.registries` in handrail.yaml";

/** Whether `path` leads to a directory of the workspace below its root, in the one form that a lock file writes. */
export function isInsidePath(path: string): boolean {
  const names = path.split("/");
  return (
    path !== "" && !/[\\\p{Cc}]/u.test(path) && names.every((name) => name !== "" && name !== "." && name !== "..")
  );
}
