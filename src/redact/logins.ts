/** Finds the logins in texts that may be addresses as a whole: arguments, and names of files. */
import { loginsIn } from "./kinds/address-login.ts";
import type { KnownSecret } from "./kinds/known-secret.ts";
import { applyMarkers, type Finding, type FindingKind, mergeFindings } from "./search/finding.ts";

/** A secret of a login, and how sure it is. */
export interface LoginSecret extends KnownSecret {
  readonly kind: FindingKind;
}

/** What machines drop from addresses. */
const DROPPED = /[\t\n\r]/g;

/** The passwords of the addresses in `text`; one that is no more than probable, with the user before it. */
export function loginSecrets(text: string): readonly LoginSecret[] {
  return loginsIn(text).flatMap(({ start, end, password: { rule, kind, start: from } }) => {
    const value = text.slice(kind === "definite" ? from : start, end);
    const plain = value.replace(DROPPED, "");
    return [...new Set([value, plain])].map((one) => ({ rule, kind, value: one }));
  });
}

/** A path as it is shown: without its secrets. @param found what else was found in it */
export function shownPath(path: string, found: readonly Finding[]): string {
  const logins = loginsIn(path).map(({ password }) => password);
  const findings = mergeFindings([...found, ...logins]);
  return findings.length === 0 ? path : applyMarkers(path, findings);
}
