/** Names that strangers give their requests and that evidence keeps. */
import { MAX_ID_LEN } from "../../../base/limits.ts";
import { hasMoreCharacters } from "../../../model/outcome/constraints.ts";
import { malformed } from "../wire/refusal.ts";

/** The id, if it is short enough to keep. @throws ConnectError `invalid_argument` */
export function checkedId(id: string, what = "a request id"): string {
  if (hasMoreCharacters(id, MAX_ID_LEN)) throw malformed(`${what} has at most ${MAX_ID_LEN} characters`);
  return id;
}
