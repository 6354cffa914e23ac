/** Formats of key material: private keys in base64 without their lines of text, key stores, keys of wallets. */
import { hasBase58Checksum, hasBech32Checksum } from "../kinds/checksum.ts";
import { entropyOf } from "../kinds/entropy.ts";
import type { Rule } from "../kinds/rule.ts";
import type { FindingKind } from "../search/finding.ts";

/** What is encoded: its first bytes in base64 tell it, some of them behind a length that varies. */
interface EncodedForm {
  /** What does not vary. */
  readonly mark: string;
  /** The expression of what stands before the mark, and how many characters that are. */
  readonly before?: { readonly expression: string; readonly sample: string; readonly characters: number };
  /** Characters of base64 at least behind the mark. */
  readonly restMin: number;
  readonly kind?: FindingKind;
  readonly source?: string;
}

/** `30 82 xx xx 02 01`: a sequence of some hundred bytes or more that begins with a number of one byte. */
const LONG_SEQUENCE = { expression: "MI[I-L][A-Za-z0-9+/]{2}[AQgw]", sample: "MIIE{b1}A", characters: 6 };
const BASE64_MAX = 4096;

function encoded(id: string, title: string, { mark, before, restMin, kind = "definite", source }: EncodedForm): Rule {
  const rest = `[A-Za-z0-9+/]{${restMin},${BASE64_MAX}}={0,2}`;
  const sample = `${before?.sample ?? ""}${mark}{b${Math.max(restMin, 80)}}==`;
  return {
    id,
    kind,
    title,
    keywords: [mark.slice(0, 32)],
    offset: before?.characters ?? 0,
    expression: `${before?.expression ?? ""}${mark.replaceAll("+", "\\+")}${rest}`,
    ...(source && { source }),
    examples: {
      positive: [sample, `key: "${sample}"`, `KEY=${sample}\n`],
      negative: [mark, `${mark}...`],
    },
  };
}

/** Rules for key material. */
export const KEY_MATERIAL_RULES: readonly Rule[] = [
  encoded("pkcs12-store", "a PKCS#12 key store in base64", {
    mark: "IBAzCC",
    before: LONG_SEQUENCE,
    restMin: 200,
    source: "RFC 7292",
  }),
  encoded("pkcs8-rsa-key", "an RSA private key in base64", {
    mark: "IBADANBgkqhkiG9w0BAQEFAASC",
    before: LONG_SEQUENCE,
    restMin: 200,
    source: "RFC 5958",
  }),
  encoded("pkcs1-rsa-key", "an RSA private key in base64", {
    mark: "IBAAKC",
    before: LONG_SEQUENCE,
    restMin: 200,
    source: "RFC 8017",
  }),
  encoded("pkcs8-ec-key", "an elliptic curve's private key in base64", {
    mark: "MIGHAgEAMBMGByqGSM49AgEG",
    restMin: 100,
    source: "RFC 5958",
  }),
  encoded("pkcs8-p384-key", "an elliptic curve's private key in base64", {
    mark: "MIG2AgEAMBAGByqGSM49AgEG",
    restMin: 100,
    source: "RFC 5958",
  }),
  encoded("sec1-ec-key", "an elliptic curve's private key in base64", {
    mark: "MHcCAQEEI",
    restMin: 100,
    source: "RFC 5915",
  }),
  encoded("ed25519-key", "an Ed25519 private key in base64", {
    mark: "MC4CAQAwBQYDK2V",
    restMin: 46,
    source: "RFC 8410",
  }),
  encoded("openssh-key", "an OpenSSH private key in base64", {
    mark: "b3BlbnNzaC1rZXktdjE",
    restMin: 200,
    source: "openssh.com",
  }),
  encoded("java-key-store", "a Java key store in base64", {
    mark: "/u3+7QAAAA",
    restMin: 200,
    source: "docs.oracle.com",
  }),
  encoded("minisign-key", "a minisign secret key", { mark: "RWRTY0Iy", restMin: 150, source: "jedisct1.github.io" }),
  {
    id: "extended-private-key",
    kind: "definite",
    title: "the extended private key of a wallet",
    keywords: ["xprv9", "tprv8", "yprv", "zprv", "uprv", "vprv"],
    expression: "[xtyzuv]prv[1-9A-HJ-NP-Za-km-z]{107,108}(?![A-Za-z0-9])",
    source: "BIP 32",
    check: (secret) => (hasBase58Checksum(secret) ? "definite" : "probable"),
    examples: { positive: ["xprv9{y106}", 'key: "tprv8{y106}"'], negative: ["xprv9", "xprv9s21ZrQH143K3..."] },
  },
  {
    id: "nostr-key",
    kind: "definite",
    title: "a Nostr private key",
    keywords: ["nsec1", "ncryptsec1"],
    expression: "(?:nsec1[02-9ac-hj-np-z]{58}|ncryptsec1[02-9ac-hj-np-z]{150,170})(?![A-Za-z0-9])",
    source: "NIP 19",
    check: (secret) => (hasBech32Checksum(secret) ? "definite" : "probable"),
    examples: { positive: ["nsec1{Q58}", "NSEC=nsec1{Q58}"], negative: ["nsec1", "nsec1...", "an nsec1 key"] },
  },
  {
    id: "framework-password-hash",
    kind: "probable",
    title: "a hash of a password, as frameworks and databases write it",
    keywords: [
      "pbkdf2_sha256$",
      "pbkdf2:sha",
      "scrypt:",
      "SCRAM-SHA-256$",
      "bcrypt_sha256$",
      "{SSHA}",
      "{SSHA512}",
      "{CRYPT}",
    ],
    expression:
      "(?:(?:pbkdf2_sha256|bcrypt_sha256)\\$[0-9a-z$]{1,12}\\$[A-Za-z0-9./]{8,64}\\$[A-Za-z0-9+/.]{40,64}=?|pbkdf2:sha\\d{1,3}:\\d{3,8}\\$[A-Za-z0-9]{6,32}\\$[0-9a-f]{40,128}|scrypt:\\d{3,7}:\\d{1,3}:\\d{1,3}\\$[A-Za-z0-9]{6,32}\\$[0-9a-f]{64,128}|SCRAM-SHA-256\\$\\d{3,7}:[A-Za-z0-9+/]{16,44}={0,2}\\$[A-Za-z0-9+/]{43}=:[A-Za-z0-9+/]{43}=|\\{(?:SSHA|SSHA512|CRYPT)\\}[A-Za-z0-9+/.$]{28,128}={0,2})",
    source: "docs.djangoproject.com, www.postgresql.org",
    left: "any",
    check: (secret) => (entropyOf(secret) > 3.5 ? "probable" : undefined),
    examples: {
      positive: [
        "pbkdf2_sha256$260000\x24{a22}\x24{b43}=",
        "scrypt:32768:8:1\x24{a16}\x24{h128}",
        "SCRAM-SHA-256$4096:{b22}==\x24{b43}=:{b43}=",
        "userPassword: {SSHA}{b36}=",
      ],
      negative: ["pbkdf2_sha256$", "scrypt:32768:8:1", "{SSHA}"],
    },
  },
];
