/**
 * Makes what a command is given so that its programs believe the session's authority.
 *
 * These are files of certificates, and the variables by which programs look for them.
 */
import { readFileSync } from "node:fs";
import { getCACertificates } from "node:tls";
import { errorCode } from "../../../base/errors.ts";
import type { SandboxFile } from "../../plan/plan.ts";

/** The authority alone, for programs that add it to their own list. */
const INSIDE_AUTHORITY = "/run/handrail/authority.pem";
/** The machine's authorities and the session's, for programs that take one list in place of another. */
const INSIDE_CERTIFICATES = "/run/handrail/certificates.pem";
/** Where Debian and those like it keep the machine's list, which programs read that know of no variable. */
const SYSTEM_BUNDLE = "/etc/ssl/certs/ca-certificates.crt";

/** Variables of programs that add, and of those that replace. */
const ADDING = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"];
const REPLACING = [
  ...["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO", "PIP_CERT"],
  ...["AWS_CA_BUNDLE", "NIX_SSL_CERT_FILE", "HEX_CACERTS_PATH"],
];

/** Files and variables of a command that believes `certificate`, in PEM. */
export function trustedFiles(certificate: string): {
  readonly files: readonly SandboxFile[];
  readonly environment: Readonly<Record<string, string>>;
} {
  const own = systemBundle();
  const text = `${(own ?? getCACertificates("default").join("\n")).trimEnd()}\n${certificate.trimEnd()}\n`;
  return {
    files: [
      { target: INSIDE_AUTHORITY, text: `${certificate.trimEnd()}\n` },
      { target: INSIDE_CERTIFICATES, text },
      ...(own === undefined ? [] : [{ target: SYSTEM_BUNDLE, text }]),
    ],
    environment: Object.fromEntries([
      ...ADDING.map((name) => [name, INSIDE_AUTHORITY]),
      ...REPLACING.map((name) => [name, INSIDE_CERTIFICATES]),
    ]),
  };
}

/** The machine's list; nothing where it keeps none there. */
function systemBundle(): string | undefined {
  try {
    return readFileSync(SYSTEM_BUNDLE, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}
