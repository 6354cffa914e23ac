/** Whether a host is one that somebody named: exactly, or by `*.` for every name below it, the apex not among them. */

/** Whether `host` is on the list `patterns`. Names compare without case and without the dot of the root. */
export function isKnownHost(host: string, patterns: readonly string[]): boolean {
  const name = plain(host);
  return patterns.some((pattern) => {
    const wanted = plain(pattern);
    if (!wanted.startsWith("*.")) return wanted === name;
    const suffix = wanted.slice(1);
    return name.length > suffix.length && name.endsWith(suffix);
  });
}

function plain(host: string): string {
  return host.toLowerCase().replace(/\.$/, "");
}
