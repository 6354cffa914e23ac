/**
 * Connections to addresses that were checked. INVARIANT: no name is looked up here, so that what was checked is what is
 * reached.
 */
import { connect, type Socket } from "node:net";

/** Milliseconds after which the next address of a host is tried. */
const EGRESS_CONNECT_TRY_MS = 1000;

/** Begins to connect to one of `addresses`, in their order. */
export type Connect = (addresses: readonly [string, ...string[]], port: number) => Socket;

/** Cannot be looked up anywhere, should anything ever try. */
const NO_NAME = "checked.invalid";

/** Connects over the machine's network. */
export const connectToAddresses: Connect = (addresses, port) => {
  const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return connect({
    host: NO_NAME,
    port,
    allowHalfOpen: true,
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: EGRESS_CONNECT_TRY_MS,
    lookup: (_name, _options, take) => take(null, all),
  });
};
