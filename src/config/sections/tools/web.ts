/**
 * Defines the section `web` of `handrail.yaml`: what `web_fetch` may reach beyond the public internet, and whom it
 * believes.
 *
 * Which hosts are known, and what is asked about, stands under `capabilities.web_fetch`. INVARIANT: each server that is
 * opened is named by host and port; a workspace can open none.
 */
import * as z from "zod";
import { MAX_PATH_LEN } from "../../../base/limits.ts";
import { namesOfServers, server } from "../servers.ts";

/** Servers that the operator can open. */
const WEB_PRIVATE_HOSTS_MAX = 64;

/** The schema of `web`. */
export const webSettings = z.strictObject({
  /** Servers that may be fetched from wherever they are: in the operator's network, or on this machine. */
  private_hosts: z.array(server).max(WEB_PRIVATE_HOSTS_MAX).default([]),
  /** A file with certificates of authorities that are believed beside those of the machine. */
  certificate_authorities: z.string().startsWith("/", "must be an absolute path").max(MAX_PATH_LEN).optional(),
});

/** The servers of `private_hosts` as `host:port`. */
export function openedWebHosts({ private_hosts: hosts }: Pick<z.infer<typeof webSettings>, "private_hosts">) {
  return namesOfServers(hosts);
}
