/** Reads the certificates of the authorities that the operator trusts for web servers. */
import { readFileSync } from "node:fs";
import { MIB } from "../../base/bytes.ts";
import { configInvalid } from "../../base/errors.ts";
import type { Settings } from "../../config/config.ts";

/** Bytes of a file with certificates. */
const WEB_AUTHORITIES_BYTES_MAX = 4 * MIB;

/** As PEM; nothing where the operator names none. @throws KernelError CONFIG_INVALID; what reading a file throws */
export function webAuthorities({ web }: Pick<Settings, "web">): string | undefined {
  const { certificate_authorities: file } = web;
  if (file === undefined) return undefined;
  const text = readFileSync(file, "utf8");
  if (text.length > WEB_AUTHORITIES_BYTES_MAX || !text.includes("-----BEGIN CERTIFICATE-----"))
    throw configInvalid(`\`web.certificate_authorities\`: \`${file}\` holds no certificates`);
  return text;
}
