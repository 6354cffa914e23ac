/** The secret that a request brings in its header. */
import { MAX_ID_LEN } from "../../../base/limits.ts";
import { unidentified } from "../wire/refusal.ts";

/**
 * The token of `authorization: Bearer TOKEN`. @throws ConnectError `unauthenticated` when there is none that could be
 * one
 */
export function bearerToken(header: Headers): string {
  const token = tokenOf(header.get("authorization"));
  if (token === undefined) throw unidentified("this method wants the header `authorization: Bearer TOKEN`");
  return token;
}

/** The token of `authorization`, if there is one that could be one. */
export function tokenOf(authorization: string | null | undefined): string | undefined {
  const match = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(authorization ?? "");
  const token = match?.[1];
  return token === undefined || token.length > MAX_ID_LEN ? undefined : token;
}
