/** Lists the content encodings that the kernel's own requests ask for, and what unpacks them. */
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { KIB } from "../../../base/bytes.ts";

/** Packings that are asked for, and their readers. */
export const UNPACK: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", () => createGunzip({ chunkSize: 16 * KIB })],
  ["x-gzip", () => createGunzip({ chunkSize: 16 * KIB })],
  ["deflate", () => createInflate({ chunkSize: 16 * KIB })],
  ["br", () => createBrotliDecompress({ chunkSize: 16 * KIB })],
]);
/** What a request says that it can unpack. */
export const ACCEPTED_PACKINGS = "gzip, deflate, br";
