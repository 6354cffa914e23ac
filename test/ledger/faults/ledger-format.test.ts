/**
 * The ledger as docs/reference/ledger-format.md describes it, checked by a verifier that shares no code with the
 * writer: SQL, the generated protobuf code and a BLAKE3 library.
 */
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { Blake3Hasher, blake3 } from "@napi-rs/blake-hash";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { EntrySchema } from "../../../src/gen/handrail/ledger/v1/ledger_pb.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";
import { sampleEvent } from "../../stores/contract.ts";
import { freshDirectory } from "../../support/store-place.ts";

interface Row {
  readonly seq: number;
  readonly entry: Buffer;
  readonly hash: Buffer;
  readonly salt: Buffer | null;
  readonly payload: Buffer | null;
}

/** Sequences at which a ledger breaks the documented rules. */
function brokenEntries(path: string): readonly number[] {
  const database = new Sqlite(path, { readonly: true });
  const rows = database
    .prepare<[], Row>(
      "SELECT e.seq, entry, hash, salt, payload FROM entries e LEFT JOIN payloads p USING (seq) ORDER BY seq",
    )
    .all();
  const head = database.prepare<[], { seq: number; hash: Buffer }>("SELECT seq, hash FROM head").get();
  database.close();
  let previous: Uint8Array = Buffer.alloc(32);
  const broken = rows.filter(({ seq, entry, hash, salt, payload }, index) => {
    const message = fromBinary(EntrySchema, entry);
    const digest =
      salt === null || payload === null ? undefined : new Blake3Hasher().update(salt).update(payload).digestBuffer();
    const sound =
      seq === index + 1 &&
      message.sequence === BigInt(seq) &&
      message.$unknown === undefined &&
      Buffer.from(toBinary(EntrySchema, message)).equals(entry) &&
      blake3(entry).equals(hash) &&
      Buffer.from(previous).equals(message.prevHash) &&
      (digest === undefined ||
        (digest.equals(message.payloadDigest) && BigInt(payload?.byteLength ?? 0) === message.payloadSize));
    previous = hash;
    return !sound;
  });
  const cut = head?.seq !== rows.length || !head.hash.equals(previous);
  return [...broken.map(({ seq }) => seq), ...(cut ? [0] : [])];
}

test("the digests are BLAKE3, plain and keyed (vectors of its authors)", () => {
  expect(blake3("").toString("hex")).toBe("af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  expect(
    Blake3Hasher.newKeyed(Buffer.from("whats the Elvish word for friend")).update("").digestBuffer().toString("hex"),
  ).toBe("92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26");
});

test("a verifier written from the documentation alone accepts the ledger, and names a changed entry", async () => {
  const stateDirectory = await freshDirectory();
  const ledger = startLedgerThread({ stateDirectory, instanceId: "ins_a" });
  await ledger.record(sampleEvent("intent", { intent: true, sessionId: "" }), "durable");
  await ledger.record(sampleEvent("outcome", { closes: 1, payload: { b: [1, 2.5, "ö"], a: null } }), "durable");
  for (let count = 0; count < 50; count++) await ledger.record(sampleEvent(`r${count}`), "buffered");
  await ledger.close();
  const path = join(stateDirectory, "ledger.db");
  expect(brokenEntries(path)).toEqual([]);
  const attacker = new Sqlite(path);
  expect(attacker.prepare("SELECT payload FROM payloads WHERE seq = 2").pluck().get()).toEqual(
    Buffer.from('{"a":null,"b":[1,2.5,"ö"]}'),
  );
  attacker.exec("UPDATE payloads SET payload = x'7b7d' WHERE seq = 7");
  attacker.close();
  expect(brokenEntries(path)).toEqual([7]);
});
