/** The secret that a request brings in its header. */
import { tokenOf } from "../wire/other-door.ts";
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
