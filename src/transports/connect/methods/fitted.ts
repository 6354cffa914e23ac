/** Answers of the administration service: as much as fits one, and errors in words of the transport. */
import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { RPC_LIST_BYTES_MAX } from "../../../base/limits.ts";

/** Runs `work`; what it throws becomes an error for a peer. */
export type Guarded = <T>(work: () => Promise<T>) => Promise<T>;

/** As many messages as one answer holds, at least one. */
export function fitted<Schema extends DescMessage>(schema: Schema, messages: readonly MessageShape<Schema>[]): MessageShape<Schema>[] {
  let bytes = 0;
  const fitting: MessageShape<Schema>[] = [];
  for (const message of messages) {
    bytes += toBinary(schema, message).byteLength;
    if (bytes > RPC_LIST_BYTES_MAX && fitting.length > 0) break;
    fitting.push(message);
  }
  return fitting;
}
