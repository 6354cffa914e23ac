/** Names that strangers give their requests and that evidence keeps. */
import { Code, ConnectError } from "@connectrpc/connect";
import { MAX_ID_LEN } from "../../base/limits.ts";

/** The id, if it is short enough to keep. @throws ConnectError `invalid_argument` */
export function checkedId(id: string): string {
  if (id.length > MAX_ID_LEN) throw new ConnectError(`a request id has at most ${MAX_ID_LEN} characters`, Code.InvalidArgument);
  return id;
}
