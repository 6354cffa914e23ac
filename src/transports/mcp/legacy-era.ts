/**
 * The legacy era of MCP (revision 2025-11-25 and before), but for `tools/call`.
 *
 * The three requests that every client makes (`initialize`, `tools/list`, `ping`) are answered here when they are
 * plain. Anything else loads the protocol library, which then hears of the handshake and answers from there on.
 * INVARIANTS: messages are answered from one place at a time, in their order; the client never sees that there are two.
 */
import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";
import { CALLS_IN_FLIGHT_MAX } from "../../base/limits.ts";
import type { LibrarySource } from "./library.ts";
import { firstPage } from "./modern.ts";
import { cancelledRequest } from "./protocol/json-rpc.ts";
import { isBare, plainHandshake } from "./protocol/plain-requests.ts";
import { INTERNAL_ERROR } from "./protocol/rpc-error.ts";

/** Id of the handshake that is repeated for the library; its answer stays here. */
const REPEATED: RequestId = "handrail: the handshake once more";

/** Answers the legacy requests of one client. */
export class LegacyEra {
  readonly #source: LibrarySource;
  readonly #client: Pick<Transport, "send" | "close" | "setProtocolVersion">;
  /** What the library was connected to; it sets the handlers. */
  #library: Transport | undefined;
  /** Messages that wait while the library is loaded. */
  #waiting: JSONRPCMessage[] | undefined;
  #handshake: JSONRPCRequest | undefined;
  #closed = false;

  /** @param client where answers go */
  constructor(source: LibrarySource, client: Pick<Transport, "send" | "close" | "setProtocolVersion">) {
    this.#source = source;
    this.#client = client;
  }

  /** Takes a message of the client. */
  take(message: JSONRPCMessage): void {
    if (this.#library !== undefined) this.#library.onmessage?.(message);
    else if (this.#waiting !== undefined) this.#wait(message);
    else if (!this.#answer(message)) void this.#load(message);
  }

  /** The client is gone. */
  close(): void {
    this.#closed = true;
    this.#waiting = undefined;
    this.#library?.onclose?.();
  }

  /** Answers what is plain. @returns whether that was all there is to do */
  #answer(message: JSONRPCMessage): boolean {
    if (!("method" in message)) return false;
    if (!("id" in message))
      return message.method === "notifications/initialized" || cancelledRequest(message) !== undefined;
    if (message.method === "initialize") return this.#agree(message);
    if (message.method === "ping" && isBare(message.params)) return this.#send(message.id, {});
    if (message.method === "tools/list" && isBare(message.params)) return this.#list(message.id);
    return false;
  }

  #agree(request: JSONRPCRequest): boolean {
    const protocolVersion = plainHandshake(request.params);
    if (protocolVersion === undefined) return false;
    this.#handshake = request;
    this.#client.setProtocolVersion?.(protocolVersion);
    const { capabilities, serverInfo, instructions } = this.#source.identity;
    return this.#send(request.id, { protocolVersion, capabilities, serverInfo, instructions });
  }

  #list(id: RequestId): true {
    void this.#source.tools().then((tools) => this.#send(id, firstPage(this.#source, tools)));
    return true;
  }

  #send(id: RequestId, result: object): true {
    void this.#client.send({ result: result as JsonObject, jsonrpc: "2.0", id });
    return true;
  }

  /** While the library loads, requests are bounded by the transport below; of notifications the surplus is dropped. */
  #wait(message: JSONRPCMessage): void {
    const cancelled = cancelledRequest(message);
    if (cancelled !== undefined) {
      // Its id may name another request by the time the library hears of either.
      this.#waiting = this.#waiting?.filter(
        (waiting) => !("method" in waiting && "id" in waiting && waiting.id === cancelled),
      );
      return;
    }
    const isRequest = "method" in message && "id" in message;
    if (isRequest || (this.#waiting?.length ?? 0) < CALLS_IN_FLIGHT_MAX) this.#waiting?.push(message);
  }

  async #load(first: JSONRPCMessage): Promise<void> {
    this.#waiting = [first];
    try {
      const { connectLegacy } = await import("./library.ts");
      const transport = this.#transport();
      await connectLegacy(this.#source, transport);
      await this.#repeatHandshake(transport);
      if (this.#closed) {
        transport.onclose?.();
        return;
      }
      this.#library = transport;
      for (const message of this.#takeWaiting()) transport.onmessage?.(message);
    } catch (error) {
      this.#source.onError(error instanceof Error ? error : new Error(String(error)));
      for (const message of this.#takeWaiting()) {
        if ("method" in message && "id" in message)
          void this.#client.send({
            jsonrpc: "2.0",
            id: message.id,
            error: { code: INTERNAL_ERROR, message: "internal error" },
          });
      }
    }
  }

  #takeWaiting(): readonly JSONRPCMessage[] {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    return waiting;
  }

  #repeated: (() => void) | undefined;

  /** The library answers it like the first one; that answer goes nowhere. */
  async #repeatHandshake(transport: Transport): Promise<void> {
    const handshake = this.#handshake;
    if (handshake === undefined) return;
    await new Promise<void>((resolve) => {
      this.#repeated = resolve;
      transport.onmessage?.({ ...handshake, id: REPEATED });
    });
  }

  #transport(): Transport {
    return {
      start: () => Promise.resolve(),
      send: (message) => this.#forward(message),
      close: () => this.#client.close(),
      setProtocolVersion: (version) => this.#client.setProtocolVersion?.(version),
    };
  }

  #forward(message: JSONRPCMessage): Promise<void> {
    const repeated = this.#repeated;
    if (repeated === undefined || "method" in message || message.id !== REPEATED) return this.#client.send(message);
    this.#repeated = undefined;
    repeated();
    return Promise.resolve();
  }
}
