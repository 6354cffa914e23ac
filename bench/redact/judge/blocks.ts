/** Private keys of several lines, made anew in each run, and the ways in which such lines are printed. */
import { generateKeyPairSync } from "node:crypto";
import { type RandomIndex, randomText } from "./template.ts";

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const LINE = 64;

/** A key of several lines; chance chooses its bytes, which no program has to be able to read. */
function keyOf(title: string, lead: string, lines: number, random: RandomIndex): readonly string[] {
  const body = Array.from({ length: lines }, (_, index) => {
    const start = index === 0 ? lead : "";
    return start + randomText(random, BASE64, LINE - start.length);
  });
  return [`-----BEGIN ${title}-----`, ...body, `-----END ${title}-----`];
}

/** Kinds of keys. */
export const KEYS: Readonly<Record<string, (random: RandomIndex) => readonly string[]>> = {
  "RSA private key": (random) => keyOf("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA", 24, random),
  "EC private key": (random) => keyOf("EC PRIVATE KEY", "MHcCAQEEI", 3, random),
  "PKCS#8 private key": (random) => keyOf("PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 25, random),
  "encrypted private key": (random) => keyOf("ENCRYPTED PRIVATE KEY", "MIIFHDBOBgkqhkiG9w0BBQ0w", 27, random),
  "OpenSSH private key": (random) => keyOf("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAA", 6, random),
  "PGP private key block": (random) => {
    const [begin = "", ...rest] = keyOf("PGP PRIVATE KEY BLOCK", "lQOYBF", 20, random);
    return [begin, "", ...rest];
  },
  "Ed25519 key of this run": () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    return privateKey.export({ type: "pkcs8", format: "pem" }).toString().trim().split("\n");
  },
  "PuTTY private key": (random) => [
    "PuTTY-User-Key-File-3: ssh-ed25519",
    "Encryption: none",
    "Private-Lines: 1",
    randomText(random, BASE64, 48),
    `Private-MAC: ${randomText(random, "0123456789abcdef", 64)}`,
  ],
  "PKCS#12 as base64": (random) => [`keystore: MIIKYQIBAzCCCicGCSqGSIb3DQEHAaCC${randomText(random, BASE64, 1500)}==`],
};

/** Ways in which its lines are printed. */
export const PRINTED: Readonly<Record<string, (lines: readonly string[]) => string>> = {
  "as it is": (lines) => lines.join("\n"),
  "lines with CR": (lines) => lines.join("\r\n"),
  "indented in YAML": (lines) => `key: |\n${lines.map((line) => `  ${line}`).join("\n")}\n`,
  "escaped in JSON": (lines) => `{"private_key":"${lines.join("\\n")}\\n"}`,
  "escaped twice": (lines) => `{"body":"{\\"private_key\\":\\"${lines.join("\\\\n")}\\"}"}`,
  "in .env with quotes": (lines) => `PRIVATE_KEY="${lines.join("\\n")}"\n`,
  "lines with timestamp": (lines) => lines.map((line) => `2026-03-04T10:11:12Z INFO ${line}`).join("\n"),
  "docker compose logs": (lines) => lines.map((line) => `web-1  | ${line}`).join("\n"),
  "grep -n": (lines) => lines.map((line, index) => `keys/a.pem:${index + 1}:${line}`).join("\n"),
  "diff, added lines": (lines) => lines.map((line) => `+${line}`).join("\n"),
  "quoted mail": (lines) => lines.map((line) => `> ${line}`).join("\n"),
  "ANSI colours": (lines) => lines.map((line) => `\x1b[32m${line}\x1b[0m`).join("\n"),
  "joined by + in source": (lines) => lines.map((line) => `  "${line}\\n"`).join(" +\n"),
  "one line with spaces": (lines) => lines.join(" "),
  "comment in code": (lines) => lines.map((line) => ` * ${line}`).join("\n"),
};
