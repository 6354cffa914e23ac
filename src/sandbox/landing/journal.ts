/**
 * Notes on disk what a landing is about to move, from before the first move until all is done.
 *
 * Whoever comes after a killed kernel takes back by it what was done, so that of a landing all is there or none.
 *
 * INVARIANT: where somebody has changed anything of it since, all of it is left as it is, and both sides are kept. What
 * was begun to be taken back is taken back to its end, by however many kernels.
 */
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { parseJson } from "../../base/json-parse.ts";
import { syncDirectory } from "../files/places/directory-sync.ts";
import { LANDING_JOURNAL } from "../layers/view-directories.ts";
import { atOnce } from "../plan/workspace-mounts.ts";
import { releaseLocks } from "./lock-files.ts";
import { settled } from "./machine/durability.ts";
import { type Ground, isAsLeft, type Move, undoMove } from "./moves.ts";

const aside = z.strictObject({ in: z.enum(["upper", "side"]), path: z.string() });
const move = z.strictObject({
  kind: z.enum(["put", "swap", "take", "rights"]),
  path: z.string(),
  aside,
  own: z
    .strictObject({ inode: z.number(), isDirectory: z.boolean(), bytes: z.number(), writtenNs: z.string() })
    .optional(),
  old: z.number().optional(),
  rights: z.tuple([z.number(), z.number()]).readonly().optional(),
});
const head = z.strictObject({
  /** The workspace: its real path, and which directory that was. */
  root: z.strictObject({ path: z.string(), device: z.string(), inode: z.string() }),
  /** The real path of the directory aside, where that is no part of the view. */
  side: z.string().optional(),
  /** Lock files that are held while it lands, and what stands in them. */
  locks: z.array(z.string()),
  mark: z.string(),
  /** Nanoseconds, decimal, of a time at which all that waited was ready. */
  readyNs: z.string().regex(/^\d+$/),
});
/** The last line: without it no move was made. */
const END = "end";
/** Moves that are written at once, before others have their turn. */
const MOVES_PER_PIECE = 1000;

/** What a landing is about to do. */
export interface LandingJournal {
  readonly root: { readonly path: string; readonly device: string; readonly inode: string };
  readonly side?: string | undefined;
  readonly locks: readonly string[];
  readonly mark: string;
  readonly readyNs: string;
  readonly moves: readonly Move[];
}

/** Brings the journal of the view in `directory` to disk: lines of JSON for the head and each move, and the end. */
export async function writeJournal(directory: string, { moves, ...rest }: LandingJournal): Promise<void> {
  const view = openSync(directory, DIRECTORY);
  const file = await open(join(directory, LANDING_JOURNAL), "wx", 0o600);
  try {
    await file.write(`${JSON.stringify(rest)}\n`);
    for (let at = 0; at < moves.length; at += MOVES_PER_PIECE) {
      const lines = moves.slice(at, at + MOVES_PER_PIECE).map((one) => `${JSON.stringify(one)}\n`);
      await file.write(lines.join(""));
    }
    await file.write(END);
    await settled([file.datasync(), syncDirectory(view)]);
  } finally {
    await file.close();
    closeSync(view);
  }
}

/** Ends the landing: nothing is taken back any more, also after the machine has lost its power. */
export async function endJournal(directory: string): Promise<void> {
  unlinkSync(join(directory, LANDING_JOURNAL));
  const view = openSync(directory, DIRECTORY);
  try {
    await syncDirectory(view);
  } finally {
    closeSync(view);
  }
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** What came of taking back what a killed kernel had begun to land in the workspace `root`. */
export interface TakenBack {
  readonly root: string;
  /** The directory aside, where that is no part of the view. */
  readonly side?: string | undefined;
  /** What somebody has changed since, and is left as it is. */
  readonly left: readonly string[];
}

/** Reads the journal of the view in `directory`. @throws an error where it cannot be read */
export function readJournal(directory: string): LandingJournal | undefined {
  const lines = textOf(join(directory, LANDING_JOURNAL))?.split("\n") ?? [];
  if (lines.pop() !== END) return undefined;
  const [first, ...rest] = lines;
  return { ...head.parse(jsonOf(first)), moves: rest.map((line) => move.parse(jsonOf(line)) as Move) };
}

/**
 * Does `work` with the directories of a landing open.
 * @returns `undefined` where its workspace is gone, or another directory has its name
 */
export function onGround<Result>(
  directory: string,
  { root, side }: Pick<LandingJournal, "root" | "side">,
  work: (ground: Ground) => Result,
): Result | undefined {
  if (!existsSync(root.path)) return undefined;
  const opened: number[] = [];
  const opens = (path: string): number => {
    const descriptor = openSync(path, DIRECTORY);
    opened.push(descriptor);
    return descriptor;
  };
  try {
    const ground: Ground = {
      root: opens(root.path),
      upper: opens(join(directory, "upper")),
      side: opens(side ?? join(directory, "side")),
    };
    // the number of a device may be another one each time that it is mounted
    if (String(fstatSync(ground.root, { bigint: true }).ino) !== root.inode) return undefined;
    return work(ground);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/**
 * Takes back what the view in `directory` has landed by half. Nobody else may use the view any more.
 * @returns `undefined` where nothing had landed
 * @throws an error where the journal cannot be read, or the machine refuses
 */
export function takeBackLanding(directory: string): TakenBack | undefined {
  const journal = readJournal(directory);
  if (journal === undefined) return undefined;
  const { root, side, readyNs, locks, mark, moves } = journal;
  const at = BigInt(readyNs);
  const undone = onGround(directory, journal, (ground) => {
    // what a kernel before has taken back has changed since, and nobody had changed anything when it began
    const isBegun = existsSync(join(directory, TAKING_BACK));
    const touched = isBegun ? [] : moves.filter((one) => !atOnce(isAsLeft(ground, one, at)));
    // Somebody has gone on with what had landed: taking back the rest would break it once more.
    if (touched.length === 0 && !isBegun) noteTakingBack(directory);
    const left = touched.length > 0 ? touched : moves.toReversed().filter((one) => !atOnce(undoMove(ground, one, at)));
    releaseLocks(ground.root, locks, mark);
    if (left.length === 0) unlinkSync(join(directory, LANDING_JOURNAL));
    return left;
  });
  return { root: root.path, side, left: (undone ?? moves).map(({ path }) => path) };
}

/** Beside the journal from before anything is taken back. */
const TAKING_BACK = "taking-back";

function noteTakingBack(directory: string): void {
  closeSync(openSync(join(directory, TAKING_BACK), "wx", 0o600));
  const view = openSync(directory, DIRECTORY);
  try {
    fsyncSync(view);
  } finally {
    closeSync(view);
  }
}

function jsonOf(line = ""): unknown {
  const parsed = parseJson(line);
  return parsed.ok ? parsed.value : undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Keeps the view in `path`, with both sides of what could not be taken back, under a name that no kernel removes.
 * @param side where what was taken from the workspace lies, if not in the view
 * @returns its new path
 */
export function keepInterrupted(path: string, side?: string): string {
  if (side !== undefined) cpSync(side, join(path, "side"), { recursive: true, verbatimSymlinks: true });
  const kept = join(dirname(path), `${INTERRUPTED}${basename(path)}`);
  renameSync(path, kept);
  return kept;
}

/** How the names of what is kept begin. */
export const INTERRUPTED = "interrupted-";
