/** Whether a host is one that somebody named: exactly, or by `*.` for every name below it, the apex not among them. */
import { canonicalHost } from "./host-name.ts";

/** Whether `host` is on the list `patterns`. Both compare in their one form; what is no host is on no list. */
export function isKnownHost(host: string, patterns: readonly string[]): boolean {
  const found = canonicalHost(host);
  if (found === undefined) return false;
  return patterns.some((pattern) => {
    if (!pattern.startsWith("*.")) return canonicalHost(pattern)?.host === found.host;
    const apex = canonicalHost(pattern.slice(2));
    return apex?.kind === "name" && found.kind === "name" && found.host.endsWith(`.${apex.host}`);
  });
}
