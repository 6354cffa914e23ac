/**
 * Digests the files that a call which asks is about, as they are when people are asked.
 *
 * These are the files that it changes and, for a call that runs programs, also those that it reads, because they say
 * what the programs do. The digests are part of what an approval is bound to. They are checked once more under the lock
 * of each file, or right before the program begins.
 *
 * INVARIANT: an approved call changes and runs only what its approval was given for. What cannot be read has a
 * pre-image too, and no approved call changes it.
 */
import { isDeepStrictEqual } from "node:util";
import { GIB } from "../../base/bytes.ts";
import { blake3KeyedHex } from "../../base/hash.ts";
import type { JsonObject } from "../../base/json.ts";
import { sharedTurns } from "../../base/long-steps.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { Access, WorkspacePath } from "../../model/place/access.ts";
import type { FileAccess } from "../../model/place/files.ts";
import { type FileScope, readPreImage } from "../../sandbox/files/files.ts";

/** Bytes of a file of which the content is part of an approval; hashing a larger one takes longer than a person. */
const PRE_IMAGE_BYTES_MAX = 4 * GIB;

/** Pre-images by the path as the call names it, each as the value that an approval is bound to. */
export type PreImages = ReadonlyMap<string, JsonObject>;

const CHANGED: Denial = {
  layer: "approval",
  reason: "tool_approval_invalid",
  ruleId: "APPROVAL:target",
  message:
    "the file has changed since a person approved the call, so the approval does not count any more; look at the file, and send the call again to ask anew",
};

const GROUND_CHANGED: Denial = {
  ...CHANGED,
  message:
    "a file that the command reads or writes has changed since a person approved the call, so the approval does not count any more; look at " +
    "the file, and send the call again to ask anew",
};

/** Files as a call may change them, and as it may read them; without the second what is only read has no pre-image. */
export interface BoundFiles {
  readonly changed: FileScope;
  readonly read?: FileScope;
}

/** What digests are keyed with, and what ends the work. */
interface Digester {
  readonly key: Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * Reads the pre-images of what the call is about.
 * @throws Refusal when the machine shows that the call would be refused
 */
export async function preImagesOf(
  { changed, read }: BoundFiles,
  accesses: readonly Access[],
  by: Digester,
): Promise<PreImages> {
  const found = new Map<string, JsonObject>();
  const turn = sharedTurns();
  const look = async (files: FileScope, isWanted: (access: Access) => boolean) => {
    for (const access of accesses) {
      const { resource } = access;
      if (resource.kind !== "file" || !isWanted(access) || found.has(resource.path)) continue;
      found.set(resource.path, await preImage(files, resource.path, by));
      await turn();
    }
  };
  await look(changed, ({ effect }) => effect !== "read");
  if (read) await look(read, ({ effect }) => effect === "read");
  return found;
}

async function preImage(files: FileScope, path: string, { key, signal }: Digester): Promise<JsonObject> {
  try {
    const { place, content } = await readPreImage(files, path, { bytesMax: PRE_IMAGE_BYTES_MAX, signal });
    return boundValue(key, place, content);
  } catch (error) {
    if (!(error instanceof ToolFailure) || error.code === "CANCELLED") throw error;
    return { problem: error.code };
  }
}

/** Keyed, because the content of a short file could be guessed from a plain digest. */
function boundValue(key: Uint8Array, { root, path }: WorkspacePath, content: string | undefined): JsonObject {
  return {
    root,
    path,
    content: content === undefined ? "absent" : blake3KeyedHex(key, `handrail.approval.content ${content}`),
  };
}

/** Whether a target is still what it was. */
type Fit = (was: JsonObject, now: JsonObject | undefined) => boolean;

const areAtOnePlace: Fit = (was, now) => was["root"] === now?.["root"] && was["path"] === now?.["path"];

/** The targets of one approved call. */
export class ApprovedTargets {
  readonly #preImages: PreImages;
  readonly #key: Uint8Array;
  readonly #fits: Fit;
  /** What the call itself has changed, and may change again. */
  readonly #changed = new Set<string>();

  #begun = false;

  /** @param fit what has to be as it was: places and contents, or, by an answer for whatever lies there, the places */
  constructor(preImages: PreImages, key: Uint8Array, fit: "contents" | "places" = "contents") {
    this.#preImages = preImages;
    this.#key = key;
    this.#fits = fit === "contents" ? isDeepStrictEqual : areAtOnePlace;
  }

  /**
   * Throws a `Refusal` unless everything is as it was when the call was approved; what its own programs did since does
   * not count.
   */
  async requireAll(look: () => Promise<PreImages>): Promise<void> {
    if (this.#begun) return;
    const now = await look();
    const same =
      now.size === this.#preImages.size && [...this.#preImages].every(([path, was]) => this.#fits(was, now.get(path)));
    if (!same) throw new Refusal(GROUND_CHANGED);
    this.#begun = true;
  }

  /** Throws a `Refusal` unless the file at `place` is as it was when its change was approved. */
  readonly require = async (
    path: string,
    place: WorkspacePath,
    content: () => Promise<string | undefined>,
  ): Promise<void> => {
    if (this.#changed.has(path)) return;
    const approved = this.#preImages.get(path);
    const now = boundValue(this.#key, place, await content());
    if (approved === undefined || !this.#fits(approved, now)) throw new Refusal(CHANGED);
  };

  /** `access` that remembers what it has changed. */
  following(access: FileAccess): FileAccess {
    const noted = async <T>(path: string, change: () => Promise<T>): Promise<T> => {
      const receipt = await change();
      this.#changed.add(path);
      return receipt;
    };
    return {
      ...access,
      write: (path, content, options) => noted(path, () => access.write(path, content, options)),
      remove: (path) => noted(path, () => access.remove(path)),
      transform: (path, bytesMax, transform) => noted(path, () => access.transform(path, bytesMax, transform)),
      transformAll: async (files) => {
        const receipts = await access.transformAll(files);
        for (const { path } of files) this.#changed.add(path);
        return receipts;
      },
    };
  }
}
