/** The secret that a request brings in its header. */
import { MAX_ID_LEN } from "../../../base/limits.ts";
import { unidentified } from "../wire/refusal.ts";

/**
 * The token of `authorization: Bearer TOKEN`. @throws ConnectError `unauthenticated` when there is none that could be
 * one
 */
export function bearerToken(header: Headers): string {
  const match = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(header.get("authorization") ?? "");
  const token = match?.[1];
  if (token === undefined || token.length > MAX_ID_LEN) {
    throw unidentified("this method wants the header `authorization: Bearer TOKEN`");
  }
  return token;
}
