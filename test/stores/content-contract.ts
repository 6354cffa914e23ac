/** What every content store must do; two opened stores stand for two kernels that share a place. */
import { expect, test } from "vitest";
import { utf8 } from "../../src/base/bytes.ts";
import { blake3Hex } from "../../src/base/hash.ts";
import { ARTIFACTS_PAGE_MAX } from "../../src/base/limits.ts";
import type { ContentOwner, ContentStore, MaintainedContentStore } from "../../src/cas/content-store.ts";
import type { Label } from "../../src/model/outcome/label.ts";
import type { StoredContent } from "../../src/model/work/content.ts";
import { CONTENT_STAGED_MAX } from "../../src/stores/embedded/content/content-staging.ts";

export const NOW_MS = 1_700_000_000_000;
const SIGNAL = new AbortController().signal;
const ANN: ContentOwner = { userId: "ann", workspace: "/srv/a" };
const OTHERS: readonly ContentOwner[] = [
  { userId: "bob", workspace: "/srv/a" },
  { userId: "ann", workspace: "/srv/b" },
];

/** A label for tests. */
export function label(change: Partial<Label> = {}): Label {
  return {
    trustLevel: "verified",
    dataClass: "internal",
    source: { origin: "test", timestamp: "2026-01-01T00:00:00.000Z" },
    ...change,
  };
}

/** Bytes as an upload. */
export async function* pieces(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? utf8(chunk) : chunk;
}

/** Stores a text for `owner`. */
export async function store(
  content: ContentStore,
  text: string | Uint8Array,
  owner = ANN,
  nowMs = NOW_MS,
): Promise<StoredContent> {
  const staged = await content.stage(pieces(text), {}, SIGNAL);
  try {
    return await staged.commit({ owner, label: label(), nowMs });
  } finally {
    await staged.discard();
  }
}

/** All bytes of a range. */
export async function bytesOf(
  content: ContentStore,
  hash: string,
  offset = 0,
  length = Number.MAX_SAFE_INTEGER,
): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of content.read(hash, { offset, length })) read.push(piece);
  return Buffer.concat(read);
}

/** Publishes content of `owner`. */
export function publish(content: ContentStore, id: string, hash: string, owner = ANN, nowMs = NOW_MS) {
  const publisher = { ...owner, agentId: "agent", sessionId: "ses_one", label: label(), nowMs };
  return content.publish({ id, contentHash: hash, category: "c", metadata: ["k=v"] }, publisher);
}

type OpenContent = () => Promise<MaintainedContentStore>;
type OpenContentTwice = () => Promise<readonly [MaintainedContentStore, MaintainedContentStore]>;

/** The tests of the port; `open` gives one kernel's view of an empty place, `openTwice` two of the same. */
export function contentContract(open: OpenContent, openTwice: OpenContentTwice): void {
  holdingContract(open, openTwice);
  artifactContract(open, openTwice);
  collectionContract(open, openTwice);
  documentContract(openTwice);
}

/** A document of evidence. */
export function documentOf(text: string) {
  return { hash: blake3Hex(text), bytes: utf8(text) };
}

function documentContract(openTwice: OpenContentTwice): void {
  const entry = { sessionId: "ses_one", requestId: "r1" };

  test("documents are kept together, read back in another kernel, and belong to nobody", async () => {
    const [left, right] = await openTwice();
    const documents = [documentOf('{"a":1}'), documentOf(`{"long":"${"x".repeat(2_500_000)}"}`)];
    const kept = await left.keepDocuments(documents, entry, NOW_MS);
    await Promise.all([kept.sync(), kept.sync()]);
    for (const { hash, bytes } of documents) {
      expect((await bytesOf(right, hash)).equals(bytes)).toBe(true);
      expect((await bytesOf(right, hash, 3, 4)).equals(bytes.subarray(3, 7))).toBe(true);
      expect(await right.find(hash, ANN)).toBeUndefined();
      const inventory = await right.maintenance();
      expect(await inventory.inspect(hash)).toBeUndefined();
      expect(Buffer.from((await inventory.bytesOf(hash, 4_000_000)) ?? []).equals(bytes)).toBe(true);
      expect(await inventory.bytesOf(hash, bytes.byteLength - 1)).toBeUndefined();
    }
  });

  test("a document stays while the ledger names it, and goes with its reference", async () => {
    const [left, right] = await openTwice();
    const document = documentOf("{}");
    await left.keepDocuments([document], entry, NOW_MS);
    const maintenance = await right.maintenance();
    expect((await maintenance.collect(0, NOW_MS + 1, false)).objects).toBe(0);
    const rebuilt = await maintenance.rebuildReferences(named([{ ...entry, hash: document.hash }]), 0, NOW_MS + 1);
    expect(rebuilt).toEqual({ added: 0, removed: 0 });
    expect((await maintenance.collect(0, NOW_MS + 1, false)).objects).toBe(0);
    expect(await maintenance.rebuildReferences(named([]), 0, NOW_MS + 1)).toEqual({ added: 0, removed: 1 });
    expect((await maintenance.collect(0, NOW_MS + 1, false)).objects).toBe(1);
    expect(await maintenance.sizeOf(document.hash)).toBeUndefined();
    await left.keepDocuments([document], entry, NOW_MS);
    expect((await bytesOf(right, document.hash)).toString()).toBe("{}");
  });

  test("the same bytes as an upload and as a document are one object", async () => {
    const [left, right] = await openTwice();
    await left.keepDocuments([documentOf("{}")], entry, NOW_MS);
    const { hash } = await store(right, "{}");
    await right.keepDocuments([documentOf("{}")], { ...entry, requestId: "r2" }, NOW_MS);
    const inventory = await left.maintenance();
    expect(await inventory.list("", 10)).toMatchObject([{ hash, owners: 1, references: 2, state: "stored" }]);
    expect((await bytesOf(left, hash)).toString()).toBe("{}");
  });
}

async function* named<T>(entries: readonly T[]): AsyncGenerator<T> {
  yield* entries;
}

function holdingContract(open: OpenContent, openTwice: OpenContentTwice): void {
  test("stored content is found by its owner alone, in another kernel too, and reads back as it was", async () => {
    const [left, right] = await openTwice();
    const stored = await store(left, "content");
    expect(stored).toEqual({ hash: blake3Hex("content"), sizeBytes: 7, label: label() });
    expect(await right.find(stored.hash, ANN)).toEqual(stored);
    for (const other of OTHERS) expect(await right.find(stored.hash, other)).toBeUndefined();
    expect((await bytesOf(right, stored.hash)).toString()).toBe("content");
    expect((await bytesOf(right, stored.hash, 2, 3)).toString()).toBe("nte");
    expect((await bytesOf(right, stored.hash, 7, 3)).byteLength).toBe(0);
    expect((await bytesOf(right, stored.hash, 1000)).byteLength).toBe(0);
  });

  test("parts of content of several blocks are those of the whole", async () => {
    const content = await open();
    const bytes = Buffer.alloc(2 * 1024 * 1024 + 5);
    for (let at = 0; at < bytes.byteLength; at += 4)
      bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, Math.min(at, bytes.byteLength - 4));
    const { hash } = await store(content, bytes);
    for (const [offset, length] of [
      [0, 1],
      [1_048_575, 2],
      [1_048_576, 1_048_576],
      [3, 2_000_000],
      [2_097_152, 5],
      [2_097_156, 100],
    ] as const) {
      expect((await bytesOf(content, hash, offset, length)).equals(bytes.subarray(offset, offset + length))).toBe(true);
    }
  });

  test("the same content stored by many is one object, and each finds their own", async () => {
    const [left, right] = await openTwice();
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => store(index % 2 ? left : right, "same", index % 3 ? ANN : OTHERS[0])),
    );
    expect(await (await left.maintenance()).list("", 10)).toMatchObject([
      { hash: blake3Hex("same"), owners: 2, state: "stored" },
    ]);
    expect((await right.find(blake3Hex("same"), ANN))?.sizeBytes).toBe(4);
  });

  test("content that one owner stored under two labels has the more careful one; others keep theirs", async () => {
    const content = await open();
    const put = async (owner: ContentOwner, change: Partial<Label>) =>
      (await content.stage(pieces("x"), {}, SIGNAL)).commit({ owner, label: label(change), nowMs: NOW_MS });
    await put(ANN, { trustLevel: "untrusted", dataClass: "public" });
    expect((await put(ANN, { trustLevel: "user", dataClass: "secret" })).label).toMatchObject({
      trustLevel: "untrusted",
      dataClass: "secret",
    });
    const [bob = ANN] = OTHERS;
    expect((await put(bob, { trustLevel: "user", dataClass: "public" })).label).toMatchObject({
      trustLevel: "user",
      dataClass: "public",
    });
  });

  test("what was not committed, or was discarded, is not there", async () => {
    const content = await open();
    const staged = await content.stage(pieces("never"), {}, SIGNAL);
    expect([staged.hash, staged.sizeBytes]).toEqual([blake3Hex("never"), 5]);
    expect(await content.find(staged.hash, ANN)).toBeUndefined();
    await staged.discard();
    await staged.discard();
    expect(await (await content.maintenance()).list("", 10)).toEqual([]);
    await expect(bytesOf(content, staged.hash)).rejects.toMatchObject({ code: "CONTENT_NOT_FOUND" });
  });

  test.each([
    ["another hash", { hash: blake3Hex("other") }],
    ["more bytes", { sizeBytes: 8 }],
    ["fewer bytes", { sizeBytes: 6 }],
  ])("content that was announced with %s is refused", async (_, announced) => {
    const content = await open();
    await expect(content.stage(pieces("content"), announced, SIGNAL)).rejects.toMatchObject({
      code: "CONTENT_MISMATCH",
    });
  });

  test("content as announced is taken", async () => {
    const content = await open();
    const staged = await content.stage(pieces("con", "", "tent"), { hash: blake3Hex("content"), sizeBytes: 7 }, SIGNAL);
    expect(staged.sizeBytes).toBe(7);
    await staged.discard();
  });

  test("more uploads at once than allowed are told to come back; those under way end well", async () => {
    const content = await open();
    let release: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    async function* waiting(index: number): AsyncGenerator<Uint8Array> {
      yield utf8(`upload ${index}`);
      await gate;
    }
    const running = Array.from({ length: CONTENT_STAGED_MAX }, (_, index) =>
      content.stage(waiting(index), { sender: `sender ${index % 5}` }, SIGNAL),
    );
    await new Promise((resolve) => setImmediate(resolve));
    const refused = { code: "RESOURCE_BUSY", retryable: true };
    await expect(content.stage(pieces("one more"), { sender: "sender 9" }, SIGNAL)).rejects.toMatchObject(refused);
    await (await content.stage(pieces("a result"), {}, SIGNAL)).discard(); // the kernel's own have places of theirs
    release?.();
    const staged = await Promise.all(running);
    expect(new Set(staged.map(({ hash }) => hash)).size).toBe(CONTENT_STAGED_MAX);
    await Promise.all(staged.map((one) => one.discard()));
    await (await content.stage(pieces("one more"), { sender: "sender 9" }, SIGNAL)).discard();
  });

  test("a cancelled upload is refused", async () => {
    const content = await open();
    await expect(content.stage(pieces("x"), {}, AbortSignal.abort())).rejects.toMatchObject({ code: "CANCELLED" });
  });
}

function artifactContract(open: OpenContent, openTwice: OpenContentTwice): void {
  test("CTR-0020, CTR-0021: an artifact needs stored content, and stands for it for good", async () => {
    const [left, right] = await openTwice();
    expect(await publish(left, "report", blake3Hex("missing"))).toEqual({ kind: "missing" });
    const { hash } = await store(left, "one");
    const other = await store(left, "two");
    const first = await publish(right, "report", hash);
    const artifact = {
      id: "report",
      contentHash: hash,
      category: "c",
      metadata: ["k=v"],
      sizeBytes: 3,
      label: label(),
      userId: "ann",
      agentId: "agent",
      publishedAtMs: NOW_MS,
    };
    expect(first).toEqual({ kind: "published", artifact });
    expect(await publish(left, "report", hash, ANN, NOW_MS + 1000)).toEqual(first);
    expect(await publish(left, "report", other.hash)).toEqual({ kind: "taken" });
    expect(await right.findArtifact("/srv/a", "report")).toEqual(artifact);
  });

  test("ids belong to their workspace, and artifacts of one content are listed there alone", async () => {
    const content = await open();
    const { hash } = await store(content, "shared");
    for (const id of ["b", "a"]) await publish(content, id, hash);
    await publish(content, "a", hash, { userId: "ann", workspace: "/srv/b" });
    expect((await content.artifactsOf("/srv/a", hash, "")).map(({ id }) => id)).toEqual(["a", "b"]);
    expect((await content.artifactsOf("/srv/a", hash, "a")).map(({ id }) => id)).toEqual(["b"]);
    expect(await content.artifactsOf("/srv/a", hash, "b")).toEqual([]);
    expect((await content.artifactsOf("/srv/b", hash, "")).map(({ id }) => id)).toEqual(["a"]);
    expect(await content.artifactsOf("/srv/c", hash, "")).toEqual([]);
    expect(await content.findArtifact("/srv/b", "b")).toBeUndefined();
  });

  test("artifacts of one content come page by page, each once", async () => {
    const content = await open();
    const { hash } = await store(content, "shared");
    const ids = Array.from({ length: ARTIFACTS_PAGE_MAX + 1 }, (_, index) => `a${String(index).padStart(3, "0")}`);
    for (const id of ids) await publish(content, id, hash);
    const page = await content.artifactsOf("/srv/a", hash, "");
    const rest = await content.artifactsOf("/srv/a", hash, page.at(-1)?.id ?? "");
    expect([page.length, rest.length]).toEqual([ARTIFACTS_PAGE_MAX, 1]);
    expect([...page, ...rest].map(({ id }) => id)).toEqual(ids);
  });
}

function collectionContract(open: OpenContent, openTwice: OpenContentTwice): void {
  const DAY_MS = 86_400_000;

  test("a collection removes what nothing refers to and what is older than the grace, and nothing else", async () => {
    const [left, right] = await openTwice();
    const old = await store(left, "old");
    const published = await store(left, "published");
    await publish(left, "p", published.hash);
    const staged = await left.stage(pieces("result"), {}, SIGNAL);
    const reference = { sessionId: "ses_one", requestId: "req_one" };
    const result = await staged.commit({ owner: ANN, label: label(), nowMs: NOW_MS, reference });
    const young = await store(left, "young", ANN, NOW_MS + 2);
    const maintenance = await right.maintenance();
    const dry = await maintenance.collect(DAY_MS, NOW_MS + DAY_MS + 1, true);
    expect(dry).toEqual({ objects: 1, bytes: 3, strayFiles: 0, temporaryFiles: 0 });
    expect(await left.find(old.hash, ANN)).toEqual(old);
    expect(await maintenance.collect(DAY_MS, NOW_MS + DAY_MS + 1, false)).toEqual(dry);
    expect(await left.find(old.hash, ANN)).toBeUndefined();
    await expect(bytesOf(left, old.hash)).rejects.toMatchObject({ code: "CONTENT_NOT_FOUND" });
    for (const { hash } of [published, result, young])
      expect((await bytesOf(left, hash)).byteLength).toBeGreaterThan(0);
    expect(await maintenance.hasReference(result.hash, reference)).toBe(true);
    expect(await publish(left, "late", old.hash)).toEqual({ kind: "missing" });
  });

  test("storing content again begins its grace anew, and content that was collected can be stored again", async () => {
    const content = await open();
    const { hash } = await store(content, "again");
    await store(content, "again", ANN, NOW_MS + DAY_MS);
    const maintenance = await content.maintenance();
    expect((await maintenance.collect(DAY_MS, NOW_MS + DAY_MS, false)).objects).toBe(0);
    expect((await maintenance.collect(0, NOW_MS + DAY_MS, false)).objects).toBe(1);
    await store(content, "again");
    expect((await bytesOf(content, hash)).toString()).toBe("again");
  });

  test("a clock that went backwards collects nothing", async () => {
    const content = await open();
    await store(content, "future", ANN, NOW_MS + DAY_MS);
    expect((await (await content.maintenance()).collect(0, NOW_MS, false)).objects).toBe(0);
  });

  test("references follow the ledger: missing ones are added, old ones that it lost are removed, young ones stay", async () => {
    const content = await open();
    const keep = async (text: string, nowMs: number) => {
      const staged = await content.stage(pieces(text), {}, SIGNAL);
      return staged.commit({ owner: ANN, label: label(), nowMs, reference: { sessionId: "s", requestId: text } });
    };
    const lost = await keep("lost", NOW_MS);
    const young = await keep("young", NOW_MS + DAY_MS);
    const plain = await store(content, "plain");
    async function* entries() {
      yield { hash: plain.hash, sessionId: "s", requestId: "plain" };
      yield { hash: blake3Hex("gone"), sessionId: "s", requestId: "gone" };
    }
    const maintenance = await content.maintenance();
    expect(await maintenance.rebuildReferences(entries(), DAY_MS / 2, NOW_MS + DAY_MS)).toEqual({
      added: 1,
      removed: 1,
    });
    const kept = async ({ hash }: StoredContent, requestId: string) =>
      maintenance.hasReference(hash, { sessionId: "s", requestId });
    expect([await kept(lost, "lost"), await kept(young, "young"), await kept(plain, "plain")]).toEqual([
      false,
      true,
      true,
    ]);
    expect((await maintenance.collect(0, NOW_MS + 2 * DAY_MS, false)).objects).toBe(1);
  });

  test("the listing goes on after a hash, and an inspection finds nothing wrong", async () => {
    const content = await open();
    const hashes = (await Promise.all(["a", "b", "c", "d"].map((text) => store(content, text))))
      .map(({ hash }) => hash)
      .sort();
    const maintenance = await content.maintenance();
    const first = await maintenance.list("", 3);
    const rest = await maintenance.list(first.at(-1)?.hash ?? "", 3);
    expect([...first, ...rest].map(({ hash }) => hash)).toEqual(hashes);
    for (const hash of hashes) expect(await maintenance.inspect(hash)).toBeUndefined();
    expect([await maintenance.countStrayFiles(), await maintenance.dangling(10)]).toEqual([0, []]);
  });
}
