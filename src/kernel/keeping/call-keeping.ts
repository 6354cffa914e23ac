/**
 * Decides what is kept of the files that a call changes, and in whose name it is noted.
 *
 * INVARIANT: of a file in a secret zone nothing is kept, neither content nor digest.
 */
import type { Clock } from "../../base/clock.ts";
import type { Session } from "../../model/people/session.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { ZoneMap } from "../../model/place/zone.ts";
import { handleOf, rootPath, type WorkspaceRoots } from "../../sandbox/files/places/roots.ts";
import type { Keepable, Keeping } from "../../sandbox/keeping/keeping.ts";
import type { FileHistory } from "./file-history.ts";

/** A running call, as far as keeping looks at it. */
interface ChangingCaller {
  readonly requestId: string;
  readonly tool: { readonly name: string };
  readonly caller: {
    readonly session: Session;
    readonly place: { readonly roots: WorkspaceRoots; readonly workspace: { readonly zones: ZoneMap } };
  };
}

/** Keeps for a running call; nothing where the operator wants nothing kept. */
export function keepingOf(
  { history, clock }: { readonly history?: FileHistory; readonly clock: Clock },
  { requestId, caller, tool }: ChangingCaller,
): Keeping | undefined {
  if (history === undefined) return undefined;
  const { keepMs, fileBytesMax, callBytesMax } = history.limits;
  if (keepMs === 0) return undefined;
  const { session, place } = caller;
  const { zones } = place.workspace;
  return {
    fileBytesMax,
    callBytesMax,
    keepable: (path, root = "service") => keepableOf(zones, { root, path }),
    writer: () => history.store.writer(),
    note: (changes, { root = "service", isCut = false } = {}) =>
      history.note(
        {
          callId: requestId,
          sessionId: session.id,
          actor: `${session.userId}/${session.agentId}`,
          role: session.role,
          tool: tool.name,
          root: rootPath(handleOf(place.roots, root)),
          atMs: clock.nowMs(),
        },
        changes,
        isCut,
      ),
  };
}

const REPOSITORY = ".git";
/** Git's own store of content, which only grows and which git itself looks after. */
const OBJECTS = "objects";

/** What may be kept of a path, by its zone. */
export function keepableOf(zones: ZoneMap, { root, path }: WorkspacePath): Keepable {
  const zone = zones.classify({ root, path });
  if (zone === "secret") return "secret";
  if (zone !== "managed") return "content";
  const names = path.split("/");
  const outermost = names.findIndex(
    (_, index) => zones.classify({ root, path: names.slice(0, index + 1).join("/") }) === "managed",
  );
  if (names[outermost] !== REPOSITORY) return { tree: names.slice(0, outermost + 1).join("/") };
  return names[outermost + 1] === OBJECTS ? "passed" : "content";
}
