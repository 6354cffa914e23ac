/** Opens the channel to an upstream server that is reached by its address. */
import { configInvalid } from "../../../base/errors.ts";
import { webAddress } from "../../../names/web-address.ts";
import { MACHINE_NETWORK } from "../../../sandbox/net/egress.ts";
import { webAuthorities } from "../../secrets/web-authorities.ts";
import type { UpstreamRecord } from "../records/pins.ts";
import type { UpstreamChannel } from "../talk/channel.ts";
import { HttpChannel } from "./http-channel.ts";
import type { UpstreamMeans } from "./means.ts";

/** A channel to the server of that name. @throws KernelError CONFIG_INVALID for an address that cannot be used */
export function openHttpChannel(name: string, record: UpstreamRecord, means: UpstreamMeans): UpstreamChannel {
  const address = webAddress(record.url ?? "");
  if ("problem" in address) throw configInvalid(`the server \`${name}\` has no address: ${address.problem}`);
  return new HttpChannel({
    address,
    bearer: record.bearer,
    connections: {
      network: means.network ?? MACHINE_NETWORK,
      isOpened: (host, port) => `${host}:${port}` === record.private_host,
      authorities: () => webAuthorities(means.operator().settings),
    },
    broker: means.broker,
    record: (attempt) => means.record(name, attempt),
  });
}
