/** Tells which removals of a command nobody could undo, because what they remove is not kept. */
import type { CommandEffect } from "../../sandbox/sandbox.ts";
import type { FileHistory } from "./file-history.ts";

/** Whether an effect removes what is not kept. */
export type LossJudge = (effect: CommandEffect) => boolean;

/** The judge of one command; what it removes in all counts, too. */
export function lossesOf(history: FileHistory | undefined): LossJudge {
  const removed = new Map<string, number>();
  let sum = 0;
  return ({ kind, isDirectory, path, bytes }) => {
    if (kind !== "delete" || isDirectory) return false;
    if (history === undefined) return true;
    const { keepMs, fileBytesMax, callBytesMax } = history.limits;
    sum += bytes - (removed.get(path) ?? 0);
    removed.set(path, bytes);
    return keepMs === 0 || bytes > fileBytesMax || sum > callBytesMax;
  };
}
