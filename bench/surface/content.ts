/**
 * Storing and fetching 100 MB through the kernel's door, governed and recorded, against copying the same file: once
 * with fsync for what is stored, and against plain reading for what is fetched, which is verified.
 */
import { closeSync, fsyncSync, openSync, readSync, rmSync, writeSync } from "node:fs";
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

/** The figures: the store alone, and the governed calls around it. */
export async function measureContent(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const directory = playground.directory("content");
  const source = join(directory, "source");
  const target = join(directory, "target");
  await using kernel = await openBareKernel(
    playground.directory("state-content"),
    playground.directory("workspace-content"),
  );
  let round = 0;
  // Other bytes each time, or the store would have them already; on disk before anything is timed.
  const fresh = (): void => {
    round += 1;
    writeDurably(source, bytesOfSeed(round));
  };
  const put = (store: (kernel: BareKernel, source: string) => Promise<unknown>) => async (): Promise<number> => {
    fresh();
    return timed(() => store(kernel, source));
  };
  const copy = async (): Promise<number> => {
    const took = await timed(() => copyWithSync(source, target));
    rmSync(target);
    return took;
  };
  fresh();
  const stored = await upload(kernel, source);
  const get =
    (fetch: (kernel: BareKernel, hash: Buffer) => Promise<AsyncIterable<Uint8Array>>) => async (): Promise<number> => {
      const took = await timed(async () => save(await fetch(kernel, stored), target));
      rmSync(target);
      return took;
    };
  const size = `${SIZE_BYTES / MIB} MiB`;
  const figure = (id: string, what: string) =>
    ({ id, what: `${what} ${size}`, peer: "copying the file and fsync", unit: "ms", better: "lower" }) as const;
  for (const warmUp of [put(stage), put(upload), get(readStored), get(download), copy]) await warmUp();
  return [
    await interleave(figure("content-put", "storing, hashed and durable,"), effort.rounds, put(stage), copy),
    await interleave(
      figure("content-get", "reading, verified, into a file with fsync,"),
      effort.rounds,
      get(readStored),
      copy,
    ),
    await interleave(
      figure("content-put-governed", "the call put_content, recorded, with"),
      effort.rounds,
      put(upload),
      copy,
    ),
    await interleave(
      figure("content-get-governed", "the call artifact_fetch, into a file with fsync, of"),
      effort.rounds,
      get(download),
      copy,
    ),
  ];
}

async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The store alone. */
async function stage({ parts }: BareKernel, path: string): Promise<void> {
  const file = await open(path, "r");
  const staged = await parts.content.stage(
    file.createReadStream({ highWaterMark: MIB }),
    { sizeBytes: SIZE_BYTES },
    SIGNAL,
  );
  const label = { trustLevel: "user", dataClass: "internal", source: { origin: "bench", timestamp: "" } } as const;
  await staged.commit({ owner: { userId: "bench", workspace: "bench" }, label, nowMs: Date.now() });
  await staged.discard();
}

async function readStored({ parts }: BareKernel, hash: Buffer): Promise<AsyncIterable<Uint8Array>> {
  return parts.content.read(hash.toString("hex"), { offset: 0, length: SIZE_BYTES }, "lent");
}

async function upload(kernel: BareKernel, path: string): Promise<Buffer> {
  const file = await open(path, "r");
  const who = { requestId: "put", sessionToken: kernel.token };
  const chunks = file.createReadStream({ highWaterMark: MIB });
  const response = await kernel.door.putContent({ who, announced: { size: SIZE_BYTES }, chunks }, SIGNAL);
  if (response.outcome.kind !== "success") throw new Error(`the upload failed: ${JSON.stringify(response.outcome)}`);
  return Buffer.from(String(response.outcome.data["content_hash"]), "hex");
}

async function download(kernel: BareKernel, hash: Buffer): Promise<AsyncIterable<Uint8Array>> {
  const fetched = await kernel.door.getContent({ requestId: "get", sessionToken: kernel.token, hash }, SIGNAL);
  if (fetched.kind === "refused") throw new Error(`the fetch failed: ${JSON.stringify(fetched.response.outcome)}`);
  return fetched.chunks;
}

async function save(chunks: AsyncIterable<Uint8Array>, target: string): Promise<void> {
  const file = await open(target, "w");
  try {
    for await (const chunk of chunks) await file.write(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

function writeDurably(path: string, bytes: Buffer): void {
  const descriptor = openSync(path, "w");
  writeSync(descriptor, bytes);
  fsyncSync(descriptor);
  closeSync(descriptor);
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

/** Bytes that no other seed has, and no two pages of which are equal. */
function bytesOfSeed(seed: number): Buffer {
  const bytes = Buffer.alloc(SIZE_BYTES);
  for (let page = 0; page < SIZE_BYTES; page += 4096) bytes.write(blake3Hex(`${seed}:${page}`), page);
  return bytes;
}
