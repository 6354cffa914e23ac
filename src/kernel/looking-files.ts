/**
 * Reading files of a call before it runs: for what a person is shown, and for knowing later whether the files are still the same.
 *
 * Decides: nothing; scope and policy do. INVARIANTS: only files that the call's analysis named are read; where a link leads to another
 * file, that one is judged by every effect that the call has on the name, as it will be when the call runs; nothing is written.
 */
import { assert } from "../base/errors.ts";
import { Refusal } from "../model/failure.ts";
import type { FileAccess } from "../model/files.ts";
import { createFileAccess } from "../sandbox/files/files.ts";
import type { PolicyJudge } from "./judges.ts";
import type { KernelParts } from "./parts.ts";
import { judgePlace, unanalysed } from "./scope.ts";
import type { Trail } from "./trail.ts";

/** Reads the files that the call of `trail` names. */
export function lookingFiles(
  parts: Pick<KernelParts, "locks" | "instanceId" | "clock" | "random">,
  trail: Trail,
  judge: PolicyJudge,
  signal: AbortSignal,
): Pick<FileAccess, "read" | "stream"> {
  const { caller, tool } = trail;
  assert(caller && tool, "files are looked at only for an authenticated call");
  const { workspace, roots } = caller.place;
  const accessFor = (path: string) => {
    const effects = new Set(trail.accesses.filter(({ resource }) => resource.kind === "file" && resource.path === path).map(effectOf));
    if (effects.size === 0) throw new Refusal(unanalysed(tool.name, "read"));
    return createFileAccess({
      workspace,
      roots,
      judge(target) {
        for (const effect of effects) {
          const denial = judgePlace(caller, tool, target, workspace.zones.classify(target), effect) ?? judge(target, effect);
          if (denial !== undefined) return denial;
        }
        return undefined;
      },
      visible: () => false,
      locks: parts.locks,
      lockOwner: parts.instanceId,
      clock: parts.clock,
      random: parts.random,
      signal,
      onLockBroken: () => assert(false, "looking takes no lock"),
      recheck: async () => undefined,
    });
  };
  return {
    read: (path, options) => accessFor(path).read(path, options),
    stream: (path, options) => accessFor(path).stream(path, options),
  };
}

function effectOf({ effect }: Trail["accesses"][number]): "read" | "write" {
  return effect === "read" ? "read" : "write";
}
