/** A principal in a workspace, as one text to look things up by: marks and freezes are theirs. */
import type { Session } from "./session.ts";

/** Who, and where. */
export type Owner = Pick<Session, "userId" | "agentId" | "serviceRoot">;

const keys = new WeakMap<Owner, string>();

/**
 * Names the owner; made once for each object, because that of a session comes again with every call. Nobody changes the
 * object afterwards.
 */
export function ownerKey(owner: Owner): string {
  let key = keys.get(owner);
  if (key === undefined) {
    key = `${owner.userId}\0${owner.agentId}\0${owner.serviceRoot}`;
    keys.set(owner, key);
  }
  return key;
}
