/**
 * Reads the body of an answer, unpacked and bounded.
 *
 * INVARIANT: no more is held than is asked for.
 */
import type { Readable } from "node:stream";
import { PackedBeyondReason, unpacked } from "./packings.ts";

/** Why a body could not be read. */
export class UnreadableBody extends Error {
  readonly reason: "packing" | "ratio" | "broken";

  constructor(reason: UnreadableBody["reason"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "UnreadableBody";
    this.reason = reason;
  }
}

/** A body, as far as it was read. */
export interface ReadBody {
  readonly bytes: Buffer;
  /** Whether it went on. */
  readonly isCut: boolean;
  /** Bytes that came over the connection. */
  readonly received: number;
}

/**
 * Reads `body` up to `bytesMax` unpacked bytes, and ends it.
 * @param packing as `Content-Encoding` has it
 * @throws UnreadableBody
 */
export async function readBody(body: Readable, packing: string, bytesMax: number): Promise<ReadBody> {
  body.on("error", () => undefined); // whoever reads is told
  const [name = "identity", ...more] = packing
    .toLowerCase()
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
  let received = 0;
  body.on("data", (chunk: Buffer) => (received += chunk.length));
  const source = more.length > 0 ? undefined : name === "identity" ? body : unpacked(body, name);
  if (source === undefined) {
    body.destroy();
    throw new UnreadableBody("packing", "the answer is packed in a way that was not asked for");
  }
  const chunks: Buffer[] = [];
  let [length, isCut] = [0, false];
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      const left = bytesMax - length;
      chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk);
      length += Math.min(chunk.length, left);
      if (chunk.length > left) {
        isCut = true;
        break;
      }
    }
  } catch (error) {
    if (error instanceof PackedBeyondReason) throw new UnreadableBody("ratio", error.message);
    throw new UnreadableBody("broken", "the answer broke off, or is not packed as it says", error);
  } finally {
    source.destroy();
    body.destroy();
  }
  return { bytes: Buffer.concat(chunks, length), isCut, received };
}
