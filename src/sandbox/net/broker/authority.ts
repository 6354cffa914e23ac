/**
 * An authority for certificates, made for one session.
 *
 * It vouches for the servers whose TLS ends in the kernel. Its key is made here, stays in memory, and is gone with the
 * kernel. INVARIANT: only sandboxes that are given its certificate believe it.
 */
import { randomBytes, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import type * as X509 from "@peculiar/x509";

/** What a server proves itself with; both in PEM. */
export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
}

/** The authority of one session. */
export interface SessionAuthority {
  /** In PEM. */
  readonly certificate: string;
  /** What a server of that name proves itself with; the same again for the same name. */
  readonly identityOf: (host: string) => Promise<ServerIdentity>;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
/** Clocks of sandboxes are those of the machine; some programs still want a margin. */
const BEFORE_MS = 3_600_000;
/** No session lives longer. */
const VALID_MS = 30 * 86_400_000;
const SERIAL_BYTES = 16;
/** Servers that one authority keeps the certificates of. */
const IDENTITIES_MAX = 256;

/** Makes an authority. */
export async function newAuthority(): Promise<SessionAuthority> {
  const x509 = await library();
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
  const name = `CN=Handrail session ${randomBytes(4).toString("hex")}`;
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...times(),
    serialNumber: serial(),
    name,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const known = new Map<string, Promise<ServerIdentity>>();
  return {
    certificate: authority.toString("pem"),
    identityOf(host) {
      const made = known.get(host) ?? identity(x509, { authority, signingKey: keys.privateKey, host });
      if (known.size >= IDENTITIES_MAX) known.clear();
      known.set(host, made);
      return made;
    },
  };
}

async function identity(
  x509: typeof X509,
  {
    authority,
    signingKey,
    host,
  }: { readonly authority: X509.X509Certificate; readonly signingKey: webcrypto.CryptoKey; readonly host: string },
): Promise<ServerIdentity> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.create({
    ...times(),
    serialNumber: serial(),
    subject: "CN=Handrail egress proxy",
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? "dns" : "ip", value: host }]),
      await x509.AuthorityKeyIdentifierExtension.create(authority),
    ],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return { cert: certificate.toString("pem"), key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n` };
}

/** It wants metadata of classes, which must be there before it is loaded. */
async function library(): Promise<typeof X509> {
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}

function times(): { readonly notBefore: Date; readonly notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - BEFORE_MS), notAfter: new Date(now + VALID_MS) };
}

/** Positive, as certificates want it. */
function serial(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString("hex");
}
