/**
 * The file handle of a call: judges again whatever was really opened, by zones, lease and policy.
 *
 * INVARIANT: a tool touches only what its analysis named: what was not analysed was never judged.
 */
import { MAX_WRITE_SIZE } from "../../base/limits.ts";
import { Refusal } from "../../model/outcome/failure.ts";
import type { FileAccess } from "../../model/place/files.ts";
import { createFileAccess } from "../../sandbox/files/files.ts";
import type { Running } from "../call/stages.ts";
import { exactly, judgePlace, leavesReading, unanalysed } from "../judge/scope.ts";
import { withoutMarkers } from "../judge/secret-writes.ts";
import { zoneNow } from "../judge/zone-now.ts";
import { keepingOf } from "../keeping/call-keeping.ts";
import { withoutGuessing } from "../redaction/secret-guesses.ts";
import type { HandleParts } from "./handle-parts.ts";
import { recheckOrRefuse } from "./still-allowed.ts";

/** Files for one call. */
export function createFiles(handle: HandleParts): FileAccess {
  const { kernel, running, rules, signal } = handle;
  const { parts, evidence } = kernel;
  const { caller, tool, redaction, accesses } = running;
  const { approval } = running.holdings;
  const { workspace, roots } = caller.place;
  const access = createFileAccess({
    workspace,
    roots,
    judge: (target, effect) =>
      exactly(running, target) ??
      judgePlace(caller, { tool, place: target, zone: zoneNow(caller.place, target, effect), effect }) ??
      rules.judge(target, effect),
    visible: (target) => {
      const zone = workspace.zones.classify(target);
      if (zone === "secret" || !leavesReading(caller, tool.name, target)) return false;
      // A managed directory is named, so that it is known to be there, and not entered.
      return zone === "managed" || rules.judgeTree(target, zone);
    },
    locks: parts.locks,
    lockOwner: parts.instanceId,
    newFiles: parts.newFiles,
    keeping: keepingOf(parts, running),
    clock: parts.clock,
    random: parts.random,
    signal,
    onLockBroken: (path, owner) => evidence.lockBroken(running, path, owner).catch(parts.onInternalError),
    recheck: () => recheckOrRefuse(handle),
    ...(approval && { requireApproved: approval.targets.require }),
  });
  // No declared write: hand out the read-only handle.
  if (!accesses.some(({ effect }) => effect === "write")) return onlyAnalysed(access, running);
  const hidden = (bytes: Uint8Array) => redaction.hidden(bytes);
  const watched = withoutGuessing(access, {
    guesses: parts.guesses,
    guesser: caller.session,
    hidden,
    hiddenAhead: (bytes) => redaction.hiddenAhead(bytes),
    nowMs: parts.clock.nowMs,
  });
  const approved = approval?.targets.following(watched) ?? watched;
  return onlyAnalysed(withoutMarkers(approved, MAX_WRITE_SIZE), running);
}

function onlyAnalysed(access: FileAccess, { accesses, tool, run }: Running): FileAccess {
  const requireNamed = (path: string, ...effects: readonly ("read" | "write")[]) => {
    for (const effect of effects) {
      const isNamed = accesses.some(
        ({ resource, effect: declared }) => resource.kind === "file" && resource.path === path && declared === effect,
      );
      if (!isNamed) throw new Refusal(unanalysed(tool.name, effect));
    }
  };
  return {
    read: (path, options) => {
      requireNamed(path, "read");
      return access.read(path, options);
    },
    stream: (path, options) => {
      requireNamed(path, "read");
      return access.stream(path, options);
    },
    list: async (path, options) => {
      requireNamed(path, "read");
      return access.list(path, options);
    },
    write: async (path, content, options) => {
      requireNamed(path, "write");
      return run.changes.during(() => access.write(path, content, options));
    },
    remove: async (path) => {
      requireNamed(path, "write");
      return run.changes.during(() => access.remove(path));
    },
    transformAll: async (files) => {
      for (const { path } of files) requireNamed(path, "read", "write");
      return run.changes.during(() => access.transformAll(files));
    },
    transform: async (path, bytesMax, transform) => {
      requireNamed(path, "read", "write");
      return run.changes.during(() => access.transform(path, bytesMax, transform));
    },
  };
}
