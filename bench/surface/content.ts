/**
 * Storing and fetching 100 MB through the kernel's door, governed and recorded, against copying the same file: once with
 * fsync for what is stored, and against plain reading for what is fetched, which is verified.
 */
import { closeSync, fsyncSync, openSync, readSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { blake3Hex } from "../../src/base/hash.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { type BareKernel, openBareKernel } from "../spine/bare-kernel.ts";

const MIB = 1024 * 1024;
const SIZE_BYTES = 100 * MIB;
const SIGNAL = new AbortController().signal;

/** The figures. */
export async function measureContent(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const directory = playground.directory("content");
  const source = join(directory, "source");
  writeFileSync(source, bytesOfSeed(1));
  await using kernel = await openBareKernel(playground.directory("state-content"), playground.directory("workspace-content"));
  const stored = await upload(kernel, source);
  let round = 0;
  const put = async (): Promise<number> => {
    // Other bytes each time, or the store would have them already.
    round += 1;
    writeFileSync(source, bytesOfSeed(round + 1));
    const started = performance.now();
    await upload(kernel, source);
    return performance.now() - started;
  };
  const copy = (): number => {
    const target = join(directory, `copy-${round}`);
    const started = performance.now();
    copyWithSync(source, target);
    const took = performance.now() - started;
    rmSync(target);
    return took;
  };
  const get = async (): Promise<number> => {
    const started = performance.now();
    const target = join(directory, "fetched");
    await download(kernel, stored, target);
    return performance.now() - started;
  };
  const common = { unit: "ms", better: "lower" } as const;
  const size = `${SIZE_BYTES / MIB} MiB`;
  const putRow = { id: "content-put", what: `storing ${size}, hashed and durable`, peer: "copying the file and fsync", ...common };
  const getRow = {
    id: "content-get",
    what: `fetching ${size} into a file, verified, with fsync`,
    peer: "copying the file and fsync",
    ...common,
  };
  await put();
  copy();
  return [await interleave(putRow, effort.rounds, put, copy), await interleave(getRow, effort.rounds, get, copy)];
}

async function upload(kernel: BareKernel, path: string): Promise<Buffer> {
  const file = await open(path, "r");
  const who = { requestId: "put", sessionToken: kernel.token };
  const response = await kernel.door.putContent(who, { size: SIZE_BYTES }, file.createReadStream({ highWaterMark: MIB }), SIGNAL);
  if (response.outcome.kind !== "success") throw new Error(`the upload failed: ${JSON.stringify(response.outcome)}`);
  return Buffer.from(String(response.outcome.data["content_hash"]), "hex");
}

async function download(kernel: BareKernel, hash: Buffer, target: string): Promise<void> {
  const fetched = await kernel.door.getContent({ requestId: "get", sessionToken: kernel.token, hash }, SIGNAL);
  if (fetched.kind === "refused") throw new Error(`the fetch failed: ${JSON.stringify(fetched.response.outcome)}`);
  const file = await open(target, "w");
  try {
    for await (const chunk of fetched.chunks) await file.write(chunk);
    await file.sync();
  } finally {
    await file.close();
    rmSync(target);
  }
}

function copyWithSync(source: string, target: string): void {
  const from = openSync(source, "r");
  const to = openSync(target, "w");
  try {
    const buffer = Buffer.allocUnsafe(MIB);
    for (let count = readSync(from, buffer); count > 0; count = readSync(from, buffer)) writeSync(to, buffer, 0, count);
    fsyncSync(to);
  } finally {
    closeSync(from);
    closeSync(to);
  }
}

/** Bytes that no other seed has. */
function bytesOfSeed(seed: number): Buffer {
  const block = Buffer.from(blake3Hex(String(seed)));
  return Buffer.alloc(SIZE_BYTES, block);
}
