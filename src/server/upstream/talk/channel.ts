/**
 * Defines the channel to one upstream server: what carries the client library's messages, and can end them.
 *
 * A channel is used for one connection. It says why it failed, and whoever asks opens another.
 */
import type { Transport } from "@modelcontextprotocol/client";

/** What reaches one server, once. */
export interface UpstreamChannel extends Transport {
  /** Why the server answers no more. */
  readonly failure: string | undefined;
  /** Settled once nothing is left of what the channel started. */
  readonly ended: Promise<void>;
  /** Ends it; the first failure stays. Calls `onclose`. */
  readonly fail: (why: string) => void;
  /** Whether nothing that the server does goes on once the channel has ended. */
  readonly endsWork: boolean;
  /** So many questions are open: what the server said before counts no more, and it may say as much for each. */
  readonly reset: (questions: number) => void;
  /** The server said something that answers nothing; too many of these end it. */
  readonly stray: () => void;
}

/** Opens a channel that was not started. */
export type OpenChannel = () => UpstreamChannel;
