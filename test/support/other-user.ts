/**
 * The command line as another user of the machine runs it, where a test may become one. That user sees the project and
 * the Node that runs the tests wherever they lie, also in somebody's home, through a view of its own that ends with the
 * process.
 */
import { chownSync, lchownSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Place } from "./place.ts";

/** An ordinary user, by a number that no account has and that is not the sandbox's. */
export const ORDINARY_USER_ID = 61235;

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const NODE = dirname(dirname(realpathSync(process.execPath)));

/** A program with its arguments, and what its environment has besides. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Gives everything in the place to the user, who owns it from then on. */
export function givenTo(place: Place, user: number): Place {
  mkdirSync(join(place.base, "seen"));
  for (const name of ["project", "node"]) mkdirSync(join(place.base, "seen", name));
  chownSync(place.base, user, user);
  for (const name of readdirSync(place.base, { recursive: true, encoding: "utf8" }))
    lchownSync(join(place.base, name), user, user);
  return { ...place, user };
}

/** `node PROJECT/entry …` as the user of the place. @param entry relative to the project */
export function launchAs(user: number, place: Place, entry: string, args: readonly string[]): Launch {
  const seen = join(place.base, "seen");
  return {
    command: "unshare",
    args: [
      "--mount",
      "--propagation",
      "private",
      "--",
      "sh",
      "-c",
      BECOME,
      "sh",
      PROJECT,
      NODE,
      seen,
      String(user),
      entry,
      ...args,
    ],
    environment: { NODE_COMPILE_CACHE: join(tmpdir(), `handrail-e2e-compile-cache-${user}`) },
  };
}

const BECOME = `project=$1 node=$2 seen=$3 user=$4 entry=$5; shift 5
mount --bind "$project" "$seen/project" && mount --bind "$node" "$seen/node" && cd "$HOME" || exit
exec setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all -- \\
  "$seen/node/bin/node" --disable-warning=ExperimentalWarning "$seen/project/$entry" "$@"`;
