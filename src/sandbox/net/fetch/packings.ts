/**
 * Unpacks the bodies of answers, and lists the content encodings that the kernel's own requests ask for.
 *
 * INVARIANT: what is packed beyond reason is not unpacked to its end.
 */
import { pipeline, type Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { KIB, MIB } from "../../../base/bytes.ts";

/** Unpacked bytes from which on the ratio counts. */
const RATIO_FROM_BYTES = MIB;
/** Unpacked bytes for one packed byte: text seldom comes to a tenth of it. */
const RATIO_MAX = 200;

const UNPACK: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", () => createGunzip({ chunkSize: 16 * KIB })],
  ["x-gzip", () => createGunzip({ chunkSize: 16 * KIB })],
  ["deflate", () => createInflate({ chunkSize: 16 * KIB })],
  ["br", () => createBrotliDecompress({ chunkSize: 16 * KIB })],
]);
/** What a request says that it can unpack. */
export const ACCEPTED_PACKINGS = "gzip, deflate, br";

/** A body that unpacks to more than anybody would send. */
export class PackedBeyondReason extends Error {
  constructor() {
    super(`the answer unpacks to more than ${RATIO_MAX} times of what was sent`);
    this.name = "PackedBeyondReason";
  }
}

/**
 * `body` unpacked: it fails by PackedBeyondReason, or by what is wrong with the packing.
 * @param packing one name, in lower case
 * @returns nothing where nobody asked for such a packing
 */
export function unpacked(body: Readable, packing: string): Readable | undefined {
  const unpack = UNPACK.get(packing);
  if (unpack === undefined) return undefined;
  let [received, given] = [0, 0];
  body.on("data", (piece: Buffer) => {
    received += piece.length;
  });
  const bounded = new Transform({
    transform(piece: Buffer, _, done) {
      given += piece.length;
      if (given > RATIO_FROM_BYTES && given > received * RATIO_MAX) done(new PackedBeyondReason());
      else done(null, piece);
    },
  });
  return pipeline(body, unpack(), bounded, () => undefined); // whoever reads is told
}
