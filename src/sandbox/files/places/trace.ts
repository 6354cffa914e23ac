/**
 * Traces by hand where a path and its links lead.
 *
 * It finds out why the kernel refused to walk the path, and where its links would end. This only explains. The place
 * that it answers is judged and then opened by `openBeneath` like any other path, so that a race against it gains
 * nothing.
 *
 * INVARIANT: no name outside the scope of the workspace is ever looked up, so that the answer cannot depend on what
 * exists there.
 */
import { closeSync, constants } from "node:fs";
import { LINK_STEPS_MAX } from "../../../base/limits.ts";
import type { WorkspacePath } from "../../../model/place/access.ts";
import { errno, linkText, O_PATH, openBeneath } from "../../native/syscalls.ts";
import { handleOf, placeOf, type WorkspaceRoots } from "./roots.ts";

/** Symbolic links followed on one path; the operating system's own limit. */
const LINKS_FOLLOWED_MAX = 40;

/** Where a path leads: `place` with all links followed, out of the scope, onto another mount, or round in circles. */
export type Trace =
  | { readonly kind: "place"; readonly place: WorkspacePath }
  | { readonly kind: "outside" }
  | { readonly kind: "mount" }
  | { readonly kind: "loop" };

/** Follows `start` component by component. Components that do not exist stand as they are written. */
export function traceLinks(roots: WorkspaceRoots, start: WorkspacePath): Trace {
  const stack = handleOf(roots, start.root).path.split("/").filter(isName);
  const pending = start.path.split("/").reverse(); // the next component stands at the end
  let links = 0;
  let missing = false;
  for (let steps = 0; pending.length > 0; steps += 1) {
    if (steps >= LINK_STEPS_MAX) return { kind: "loop" };
    const name = pending.pop() ?? "";
    if (name === "..") stack.pop();
    if (!isName(name)) continue;
    stack.push(name);
    const place = placeOf(roots, `/${stack.join("/")}`);
    if (missing || place === undefined) continue; // outside is not looked at; the path may yet come back
    const look = lookAt(roots, place);
    if (look.kind === "mount") return { kind: "mount" };
    if (look.kind === "missing") missing = true;
    if (look.kind !== "link") continue;
    links += 1;
    if (links > LINKS_FOLLOWED_MAX) return { kind: "loop" };
    stack.pop();
    if (look.text.startsWith("/")) stack.length = 0;
    pending.push(...look.text.split("/").reverse());
  }
  const place = placeOf(roots, `/${stack.join("/")}`);
  return place === undefined ? { kind: "outside" } : { kind: "place", place };
}

function isName(component: string): boolean {
  return component !== "" && component !== "." && component !== "..";
}

type Look = { readonly kind: "link"; readonly text: string } | { readonly kind: "other" | "missing" | "mount" };

/** What stands at `place`, all of whose parents are real. */
function lookAt(roots: WorkspaceRoots, place: WorkspacePath): Look {
  const descriptor = openBeneath(
    handleOf(roots, place.root).descriptor,
    place.path,
    O_PATH | constants.O_NOFOLLOW,
    "plain",
  );
  if (descriptor === -errno.EXDEV) return { kind: "mount" };
  if (descriptor < 0) return { kind: "missing" };
  try {
    const text = linkText(descriptor);
    return text === undefined ? { kind: "other" } : { kind: "link", text };
  } finally {
    closeSync(descriptor);
  }
}
