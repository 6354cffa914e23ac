/**
 * Records how each command of a call ended and what it used.
 *
 * These facts go into the ledger. What a command printed is not among them.
 */
import { blake3KeyedHex, streamingHash } from "../../base/hash.ts";
import type { JsonObject } from "../../base/json.ts";

import type { Mark } from "../../model/outcome/label.ts";
import type { ExecOutcome, LandedEffect, ReachedHost } from "../../model/work/exec.ts";
import type { RunRecord } from "../call/run-record.ts";

/** Commands of one call that its outcome records. */
const COMMANDS_RECORDED_MAX = 16;
/** Such changes that its record names. */
const NOT_KEPT_RECORDED_MAX = 8;
/** Characters (UTF-16 code units) of each such path. */
const NOT_KEPT_CHARACTERS_MAX = 256;

/** Effects that the record of a command names; all of them are counted, and hashed together. */
const EFFECTS_RECORDED_MAX = 32;

/** Hosts that the record of a command names. */
const HOSTS_RECORDED_MAX = 16;

/** What else a command did. */
interface CommandFacts {
  /** What has landed, as `effectsFact` says it. */
  readonly effects?: JsonObject;
  /** What it tried to reach. */
  readonly hosts?: readonly ReachedHost[];
  /** How often each rule has found a secret in its output, which was hidden. */
  readonly secrets?: Readonly<Record<string, number>>;
  /** What its session had seen when it was judged, and so may stand in what landed. */
  readonly label?: Mark;
}

/** Notes a command that has ended, for the outcome of its call. */
export function noteCommand(
  run: RunRecord,
  { exitCode, signal, endedBy, durationMs, usage, stdout, stderr, landed }: Omit<ExecOutcome, "enforced" | "network">,
  { effects = {}, hosts = [], secrets = {}, label }: CommandFacts = {},
): void {
  run.noteCommand({
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
    ...(endedBy !== undefined && { endedBy }),
    durationMs: Math.round(durationMs),
    ...(usage && { processorMs: Math.round(usage.processorMs), memoryBytesMax: usage.memoryBytesMax }),
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
    ...(hosts.length > 0 && {
      hosts: hosts.slice(0, HOSTS_RECORDED_MAX).map((one) => ({ ...one })),
      hostsCount: hosts.length,
    }),
    ...(Object.keys(secrets).length > 0 && { secretsHidden: { ...secrets } }),
    ...effects,
    ...(Object.keys(effects).length > 0 && label && { effectsLabel: { ...label } }),
    ...(landed && { files: { created: landed.created, changed: landed.changed, removed: landed.removed } }),
    ...(landed &&
      landed.notKept.length > 0 && {
        notKept: landed.notKept.slice(0, NOT_KEPT_RECORDED_MAX).map(({ path, reason }) => ({
          path: path.slice(0, NOT_KEPT_CHARACTERS_MAX).toWellFormed(),
          reason,
        })),
        notKeptCount: landed.notKept.length,
      }),
  });
}

/**
 * What has landed: the first effects, how many there are, and the digest of all; each step is one. Nothing where
 * nothing has.
 * @param key of the digests of content: that of a short file could be guessed from a plain one
 */
export function* effectsFact(effects: readonly LandedEffect[], key: Uint8Array): Generator<void, JsonObject> {
  if (effects.length === 0) return {};
  const hash = streamingHash();
  const named: JsonObject[] = [];
  for (const { path, kind, digest: plain, from } of effects) {
    const digest = plain === undefined ? undefined : blake3KeyedHex(key, `handrail.effect.content ${plain}`);
    hash.update(Buffer.from(JSON.stringify([path, kind, digest ?? "", ...(from === undefined ? [] : [from])])));
    if (named.length < EFFECTS_RECORDED_MAX)
      named.push({
        path: path.slice(0, NOT_KEPT_CHARACTERS_MAX).toWellFormed(),
        kind,
        ...(from !== undefined && { from: from.slice(0, NOT_KEPT_CHARACTERS_MAX).toWellFormed() }),
        ...(digest !== undefined && { digest }),
      });
    yield;
  }
  return { effects: named, effectsCount: effects.length, effectsHash: hash.hex() };
}

/** The commands in the order in which they ended; of very many the last ones, and how many there were. */
export function commandsFact({ commands }: Pick<RunRecord, "commands">): JsonObject {
  if (commands.length === 0) return {};
  const last = commands.slice(-COMMANDS_RECORDED_MAX);
  return { commands: last, ...(last.length < commands.length && { commandsCount: commands.length }) };
}
