/**
 * A key and a certificate that vouches for itself, for a server of a test. Made here, because not every machine has a
 * program that makes them.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** In PEM; the certificate also in a file, for programs that want one. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
  readonly certFile: string;
}

const DAY_MS = 86_400_000;
const ECDSA_SHA256 = [0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x06, 0x03, 0x55, 0x04, 0x03];
const ALTERNATIVE_NAMES = [0x06, 0x03, 0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS = [0x06, 0x03, 0x55, 0x1d, 0x13];

/** Makes one for `names` that holds for a day before and after now, and puts it into `directory`. */
export function newCertificate(directory: string, ...names: readonly [string, ...string[]]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(names[0])))));
  const time = (ms: number) => tagged(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "")}`));
  const alternatives = sequence(...names.map((one) => tagged(0x82, Buffer.from(one))));
  const authority = sequence([0x01, 0x01, 0xff]);
  const body = sequence(
    [0xa0, 0x03, 0x02, 0x01, 0x02],
    [0x02, 0x01, 0x01],
    ECDSA_SHA256,
    name,
    sequence(time(Date.now() - DAY_MS), time(Date.now() + DAY_MS)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(
      0xa3,
      sequence(
        sequence(ALTERNATIVE_NAMES, tagged(0x04, alternatives)),
        sequence(BASIC_CONSTRAINTS, [0x01, 0x01, 0xff], tagged(0x04, authority)),
      ),
    ),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]);
  const lines = sequence(body, ECDSA_SHA256, tagged(0x03, signature))
    .toString("base64")
    .match(/.{1,64}/g)
    ?.join("\n");
  const cert = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  const certFile = join(directory, "cert.pem");
  mkdirSync(directory, { recursive: true });
  writeFileSync(certFile, cert);
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert, certFile };
}

function sequence(...parts: readonly (Uint8Array | readonly number[])[]): Buffer {
  return tagged(0x30, Buffer.concat(parts.map((part) => Buffer.from(part))));
}

/** A value of DER. */
function tagged(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
