/**
 * Keeps what was changed in the files of clients, so that it can be looked at and taken back.
 *
 * It lies in the operator's directory, which no agent can reach.
 */
import { constants } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { configInvalid, storeCorrupt } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { tryLock } from "../../stores/embedded/state/file-lock.ts";
import { readOwnFile, writeNewFile } from "../../stores/embedded/state/own-file.ts";
import type { Undo } from "./edits.ts";

/** What was done to one file. */
export interface ChangedFile {
  readonly path: string;
  /** Whether it was made. */
  readonly isNew: boolean;
  readonly undo: readonly Undo[];
  /** The whole text of a file that was made whole. */
  readonly text?: string;
  /** What it was before the first change: it is put back byte for byte where nobody has changed it since. */
  readonly original?: Original;
}

/** A copy of a file, with digests of it and of what was written in its place. */
export interface Original {
  readonly backup: string;
  readonly before: string;
  readonly after: string;
}

/** A client that was set up. */
export interface SetUp {
  readonly client: string;
  readonly workspace: string;
  readonly launch: readonly [string, ...string[]];
  readonly options: readonly string[];
  readonly joining?: readonly string[] | undefined;
  readonly files: readonly ChangedFile[];
}

const at = z.array(z.string()).readonly();
const value = z.json() as z.ZodType<JsonValue>;
const undo = z.union([
  z.strictObject({ at, depth: z.number(), value, before: value.optional() }),
  z.strictObject({ at, depth: z.number(), members: z.array(z.string()), isNew: z.boolean() }),
]);
const record = z.strictObject({
  version: z.literal(1),
  clients: z.array(
    z.strictObject({
      client: z.string(),
      workspace: z.string(),
      launch: z.tuple([z.string()], z.string()),
      options: z.array(z.string()),
      joining: z.array(z.string()).optional(),
      files: z.array(
        z.strictObject({
          path: z.string(),
          isNew: z.boolean(),
          undo: z.array(undo),
          text: z.string().optional(),
          original: z.strictObject({ backup: z.string(), before: z.string(), after: z.string() }).optional(),
        }),
      ),
    }),
  ),
});

const MEND = "remove it, and set the clients up again";

/** Milliseconds that another run is waited for, and between two looks. */
const LOCK_WAIT_MS = 30_000;
const LOCK_EVERY_MS = 50;

/** Where it lies. */
export function recordPath(operatorPath: string): string {
  return join(operatorPath, "clients.json");
}

/**
 * Runs `work` while nobody else changes the record, who would lose what is written here.
 * @throws KernelError CONFIG_INVALID where another run goes on and on
 */
export async function withRecord<T>(operatorPath: string, work: () => Promise<T>): Promise<T> {
  const path = `${recordPath(operatorPath)}.lock`;
  await mkdir(operatorPath, { recursive: true, mode: 0o700 });
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    for (const endMs = performance.now() + LOCK_WAIT_MS; !tryLock(file.fd, "exclusive"); await pause(LOCK_EVERY_MS))
      if (performance.now() > endMs) throw configInvalid("another `handrail setup` is at work; let it end first");
    return await work();
  } finally {
    await file.close();
  }
}

/** Every client that was set up. @throws KernelError STORE_CORRUPT where the record is none */
export async function readRecord(operatorPath: string): Promise<readonly SetUp[]> {
  const path = recordPath(operatorPath);
  const bytes = await readOwnFile(path, { what: "what was changed in clients", mend: MEND });
  if (bytes === undefined) return [];
  const text = Buffer.from(bytes, "latin1").toString("utf8");
  const parsed = record.safeParse(jsonOf(text));
  if (!parsed.success) throw storeCorrupt(`\`${path}\` is no record of clients; ${MEND}`);
  return parsed.data.clients as readonly SetUp[];
}

/** Writes the record anew. */
export async function writeRecord(operatorPath: string, clients: readonly SetUp[]): Promise<void> {
  const path = recordPath(operatorPath);
  const beside = `${path}.new`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rm(beside, { force: true });
  await writeNewFile(beside, `${JSON.stringify({ version: 1, clients }, undefined, 2)}\n`);
  await rename(beside, path);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
