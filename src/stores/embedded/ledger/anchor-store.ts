/**
 * Stores the anchor in the state directory's file `anchor`, in two slots of one line each.
 *
 * The slot that was written last counts. A slot is written in place and synced, so that a write that breaks off leaves
 * the other one.
 *
 * INVARIANT: whoever writes holds the file's lock and has read the file since, so that no process moves the anchor
 * back.
 *
 * INVARIANT: a file without a sound slot is never taken for no anchor at all.
 */

import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { equalInConstantTime, hex } from "../../../base/bytes.ts";
import { errorCode, KernelError, ledgerUnavailable, storeCorrupt } from "../../../base/errors.ts";
import type { Anchor, AnchorStore } from "../../../ledger/anchor-store.ts";
import { standsUntil } from "../state/database.ts";
import { tryLock } from "../state/file-lock.ts";
import { syncDirectory } from "../state/state-directory.ts";

const FILE = "anchor";
const OWNER_ONLY_FILE = 0o600;
/** Bytes of a slot: less than any disk writes in one piece. */
const SLOT_BYTES = 256;
const SLOTS = 2;
/** Counter of the write, sequence, chain, hash, and the CRC-32 of what stands before it. */
const LINE = /^((\d{1,16}) (\d{1,16}) ([0-9a-f]{64}) ([0-9a-f]{64})) ([0-9a-f]{8}) *\n$/;

interface Slot {
  readonly counter: number;
  readonly anchor: Anchor;
}

/**
 * The anchor of a prepared state directory. Touches nothing until it is used; waits for other processes by holding up
 * its thread.
 */
export function openAnchorStore(stateDirectory: string): AnchorStore {
  const path = join(stateDirectory, FILE);
  return {
    read: () => guarded(() => look(path, (file) => newest(file)?.anchor)),
    advance: (anchor) =>
      guarded(() =>
        change(path, (file) => {
          const last = newest(file);
          if (last && !equalInConstantTime(last.anchor.chain, anchor.chain))
            throw corrupt("names another chain than the ledger");
          if (last && last.anchor.sequence >= anchor.sequence) return "moved";
          write(file, { counter: (last?.counter ?? 0) + 1, anchor }, last === undefined);
          return last === undefined ? "made" : "moved";
        }),
      ),
    replace: (anchor, instead) =>
      guarded(() =>
        change(path, (file) => {
          const last = readable(file);
          if (instead && (last === undefined || !equalInConstantTime(last.anchor.chain, instead))) return;
          write(file, { counter: (last?.counter ?? 0) + 1, anchor }, true);
        }),
      ),
  };
}

function change<T>(path: string, work: (file: number) => T): T {
  return withFile(
    openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, OWNER_ONLY_FILE),
    (file) => {
      waitForLock(file);
      const isNew = fstatSync(file).size === 0;
      const result = work(file);
      fdatasyncSync(file);
      if (isNew) syncDirectory(dirname(path));
      return result;
    },
  );
}

/** `undefined` when there is no file. */
function look<T>(path: string, work: (file: number) => T): T | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  return withFile(file, work);
}

function withFile<T>(file: number, work: (file: number) => T): T {
  try {
    return work(file);
  } finally {
    closeSync(file); // gives the lock back, too
  }
}

/** Nobody holds the lock for longer than a write takes. */
function waitForLock(file: number): void {
  const isLocked = standsUntil(() => tryLock(file, "exclusive"));
  if (!isLocked) throw ledgerUnavailable("`anchor` in the state directory is locked by another process; try again");
}

/**
 * The slot that was written last; `undefined` for an empty file, which was just made. @throws KernelError STORE_CORRUPT
 */
function newest(file: number): Slot | undefined {
  const found = readable(file);
  if (found === undefined && fstatSync(file).size > 0) throw corrupt("cannot be read");
  return found;
}

function readable(file: number): Slot | undefined {
  const bytes = Buffer.alloc(SLOT_BYTES * SLOTS);
  readSync(file, bytes, 0, bytes.byteLength, 0);
  const slots = [0, SLOT_BYTES].flatMap((at) => slotOf(bytes.toString("latin1", at, at + SLOT_BYTES)) ?? []);
  return slots.reduce<Slot | undefined>(
    (last, slot) => (last === undefined || slot.counter > last.counter ? slot : last),
    undefined,
  );
}

function slotOf(line: string): Slot | undefined {
  const [, facts = "", counter = "", sequence = "", chain = "", hash = "", checksum = ""] = LINE.exec(line) ?? [];
  if (facts === "" || checksumOf(facts) !== checksum) return undefined;
  const anchor = { chain: Buffer.from(chain, "hex"), sequence: Number(sequence), hash: Buffer.from(hash, "hex") };
  return { counter: Number(counter), anchor };
}

/** `all`: both slots say the same afterwards, so that nothing older is left. */
function write(file: number, { counter, anchor }: Slot, all: boolean): void {
  const facts = `${counter} ${anchor.sequence} ${hex(anchor.chain)} ${hex(anchor.hash)}`;
  const line = Buffer.from(`${`${facts} ${checksumOf(facts)}`.padEnd(SLOT_BYTES - 1)}\n`);
  const own = (counter % SLOTS) * SLOT_BYTES;
  for (const at of all ? [own, SLOT_BYTES - own] : [own]) writeSync(file, line, 0, SLOT_BYTES, at);
}

function checksumOf(facts: string): string {
  return crc32(facts).toString(16).padStart(8, "0");
}

function corrupt(what: string): KernelError {
  const advice =
    "stop every kernel and restore a backup, or accept the loss with `handrail ledger accept --reason <why>`";
  return storeCorrupt(`\`anchor\` in the state directory ${what}; ${advice}`);
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof KernelError) throw error;
    const message = `\`anchor\` in the state directory cannot be used (${errorCode(error)}); check the disk and the permissions`;
    throw ledgerUnavailable(message, error);
  }
}
