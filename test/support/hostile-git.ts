/**
 * A git server that a program of the test's plays: it says what there is, and answers a fetch with whatever bytes the
 * test gives.
 */
import { createHash } from "node:crypto";
import type { RequestListener } from "node:http";
import { deflateSync } from "node:zlib";

/** Kinds of objects in a pack, by their numbers. */
const KINDS = { commit: 1, tree: 2, blob: 3, delta: 7 } as const;

/** The name of an object. */
export function objectName(kind: "commit" | "tree" | "blob", content: Uint8Array): string {
  return createHash("sha1").update(`${kind} ${content.length}\0`).update(content).digest("hex");
}

/** A tree with one file, and a commit of it. */
export function commitOf(files: Readonly<Record<string, string>>): {
  readonly tree: Buffer;
  readonly commit: Buffer;
  readonly name: string;
} {
  const entries = Object.entries(files).map(([name, blob]) =>
    Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, "hex")]),
  );
  const tree = Buffer.concat(entries);
  const who = "Ada <ada@example.com> 1700000000 +0000";
  const commit = Buffer.from(`tree ${objectName("tree", tree)}\nauthor ${who}\ncommitter ${who}\n\nbegin\n`);
  return { tree, commit, name: objectName("commit", commit) };
}

/** The beginning of a pack that announces so many objects. */
export function packHead(objects: number): Buffer {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  head.writeUInt32BE(objects, 8);
  return head;
}

/** One object of a pack; a delta stands behind the name of what it begins with. */
export function packed(kind: keyof typeof KINDS, content: Uint8Array, base?: string, level?: number): Buffer {
  const head: number[] = [];
  let rest = Math.floor(content.length / 16);
  head.push((KINDS[kind] << 4) | (content.length % 16) | (rest > 0 ? 0x80 : 0));
  for (; rest > 0; rest = Math.floor(rest / 128)) head.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
  return Buffer.concat([
    Uint8Array.from(head),
    Buffer.from(base ?? "", "hex"),
    deflateSync(content, level === undefined ? {} : { level }),
  ]);
}

/** A delta that is `times` copies of all of its base, which has at most 2^24-1 bytes. */
export function copies(baseBytes: number, times: number): Buffer {
  const copy = Uint8Array.of(0x80 | 0x70, baseBytes & 0xff, (baseBytes >> 8) & 0xff, (baseBytes >> 16) & 0xff);
  return Buffer.concat([
    lengthOf(baseBytes),
    lengthOf(baseBytes * times),
    ...Array.from({ length: times }, () => copy),
  ]);
}

function lengthOf(bytes: number): Buffer {
  const digits: number[] = [];
  for (let rest = bytes; ; rest = Math.floor(rest / 128)) {
    digits.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
    if (rest < 128) return Buffer.from(digits);
  }
}

/** A pack as it ends. */
export function wholePack(objects: readonly Buffer[]): Buffer {
  const content = Buffer.concat([packHead(objects.length), ...objects]);
  return Buffer.concat([content, createHash("sha1").update(content).digest()]);
}

/**
 * Announces `commit` as `main` and answers a fetch with the pieces of `pack`, one after another as they are taken.
 * @param sent told how much has left
 */
export function hostileServer(
  commit: string,
  pack: () => Iterable<Uint8Array>,
  sent: (bytes: number) => void = () => undefined,
): RequestListener {
  return (request, response) => {
    request.resume();
    if (request.method === "GET") {
      const refs = `${line("# service=git-upload-pack\n")}0000${line(`${commit} HEAD\0symref=HEAD:refs/heads/main agent=test\n`)}${line(`${commit} refs/heads/main\n`)}0000`;
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" }).end(refs);
      return;
    }
    response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" });
    response.write(line("NAK\n"));
    const pieces = pack()[Symbol.iterator]();
    const next = (): void => {
      for (;;) {
        if (response.destroyed) return;
        const { done, value } = pieces.next();
        if (done === true) return void response.end();
        sent(value.length);
        if (!response.write(value)) return void response.once("drain", next);
      }
    };
    next();
  };
}

function line(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, "0")}${text}`;
}
