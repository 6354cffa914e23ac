/** Defines how the operator names single servers: never a pattern, and never a network. */
import * as z from "zod";
import { canonicalHost } from "../../names/host-name.ts";
import { webAddress } from "../../names/web-address.ts";
import { HOST_CHARACTERS_MAX } from "./capabilities.ts";

const HOST = /^(\[[0-9A-Fa-f:.]+\]|[^/?#@\\:[\]\s]+)(?::([1-9][0-9]{0,4}))?$/;
const DEFAULT_PORT = 443;

/** A server: a host, or a host and a port; that of HTTPS when none is named. */
export const server = z
  .string()
  .max(HOST_CHARACTERS_MAX)
  .refine(
    (text) => hostAndPort(text) !== undefined,
    "must be a host, or a host and a port, as in `git.example.com:8443`",
  )
  .transform((text) => hostAndPort(text) ?? { host: text, port: DEFAULT_PORT });

/** Servers as `host:port`, sorted. */
export function namesOfServers(servers: readonly z.infer<typeof server>[]): readonly string[] {
  return servers.map(({ host, port }) => `${host}:${port}`).sort();
}

function hostAndPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, name = "", digits] = HOST.exec(text) ?? [];
  const canonical = canonicalHost(name);
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  return canonical === undefined || port > 65_535 ? undefined : { host: canonical.host, port };
}

/** Where an interface of the web begins, without a slash at its end: paths are added to it. */
export const baseAddress = z
  .string()
  .max(2048)
  .superRefine((text, context) => {
    const read = webAddress(text);
    if ("problem" in read) context.addIssue({ code: "custom", message: `cannot be used: ${read.problem}` });
    else if (/[?#]/.test(text)) context.addIssue({ code: "custom", message: "must not hold `?` or `#`" });
  })
  .transform((text) => text.replace(/\/+$/, ""));
