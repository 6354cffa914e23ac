/** Answers of the administration service: as much as fits one, and errors in words of the transport. */
import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { MIB } from "../../../base/bytes.ts";

/** Bytes of one answer that lists things: within the message limit that clients have by default. */
export const RPC_LIST_BYTES_MAX = 3 * MIB;

/** Runs `work`; what it throws becomes an error for a peer. */
export type Guarded = <T>(work: () => Promise<T>) => Promise<T>;

/** As many messages as one answer holds, at least one. */
export function fitted<Schema extends DescMessage>(
  schema: Schema,
  messages: readonly MessageShape<Schema>[],
): MessageShape<Schema>[] {
  let bytes = 0;
  const fitting: MessageShape<Schema>[] = [];
  for (const message of messages) {
    bytes += toBinary(schema, message).byteLength;
    if (bytes > RPC_LIST_BYTES_MAX && fitting.length > 0) break;
    fitting.push(message);
  }
  return fitting;
}
