/** Shows a command the scratch directory of its session, and bounds what it writes there. */

import { MIB } from "../../base/bytes.ts";
import { assert } from "../../base/errors.ts";
import { SCRATCH_ALIAS } from "../../model/place/workspace.ts";
import type { Identity } from "../identity/identity.ts";
import type { ViewDirectories } from "../layers/view-directories.ts";
import type { SandboxMount } from "../plan/plan.ts";
import { type Outgrown, watchGrowth } from "../views/growth.ts";

/** Bytes that a scratch directory may hold while a command runs. */
const SCRATCH_BYTES_MAX = 1024 * MIB;

/**
 * The mount of a scratch directory, where the user of the run can reach it: beside the views.
 * @param scratch absolute; none is shown when absent
 */
export function scratchMounts(
  scratch: string | undefined,
  { views }: Pick<Identity, "views">,
  directories: Pick<ViewDirectories, "base">,
): readonly SandboxMount[] {
  if (scratch === undefined) return [];
  const base = directories.base();
  assert(scratch.startsWith(`${base}/`), "scratch directories lie beside views");
  return [{ kind: "writable", source: `${views?.path ?? base}${scratch.slice(base.length)}`, target: SCRATCH_ALIAS }];
}

/** A watch of a scratch directory, while a command runs. */
export interface ScratchGrowth {
  /** Ends the command. */
  readonly signal: AbortSignal;
  /** Ends the watch. @returns what the command wrote too much for, if anything */
  readonly end: () => Promise<Outgrown | undefined>;
}

/** Watches a scratch directory; nothing where there is none. */
export async function scratchGrowth(path: string | undefined): Promise<ScratchGrowth> {
  const outgrown = new AbortController();
  if (path === undefined) return { signal: outgrown.signal, end: async () => undefined };
  const watch = await watchGrowth(path, { bytesMax: SCRATCH_BYTES_MAX, onOutgrown: () => outgrown.abort() });
  return { signal: outgrown.signal, end: () => watch.end() };
}
