/** Requests to the web as tools make them, and what came of them. */

/** Methods that a tool can use. */
export const WEB_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
/** One of them. */
export type WebMethod = (typeof WEB_METHODS)[number];

/** How a body is given: as it came, or what a person would read of a page. */
export type WebFormat = "raw" | "text" | "markdown";

/** A request. */
export interface WebRequest {
  /** Absolute, `http` or `https`, without user or password. */
  readonly url: string;
  readonly method: WebMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly format: WebFormat;
  /** All of it, redirects and reading included. */
  readonly timeoutMs: number;
  /** Bytes of the body at most, unpacked; what is more is left. */
  readonly bytesMax: number;
}

/** An answer, whatever its status. */
export interface WebAnswer {
  /** Where it came from, behind all redirects. */
  readonly url: string;
  readonly status: number;
  /** Without parameters, in lower case; empty where the server named none. */
  readonly contentType: string;
  /** The encoding that text was read by. */
  readonly charset?: string;
  /** What stands in the title of a page. */
  readonly title?: string;
  /** The body as text, or as bytes where it is none. */
  readonly content: string | Uint8Array;
  /** Bytes of the body, unpacked, as far as it was read. */
  readonly bytes: number;
  /** Whether the body went on. */
  readonly isCut: boolean;
  /** Addresses that led on, in order. */
  readonly redirects: readonly string[];
  /** The wait that the server asks for, where it does. */
  readonly retryAfterMs?: number;
}

/** The web, for one call. */
export interface WebAccess {
  /**
   * Sends a request to a host that analysis named.
   * @throws ToolFailure TIMEOUT, IO_ERROR and others where no answer came; Refusal where it, or a host that it led on
   * to, may not be reached
   */
  readonly fetch: (request: WebRequest) => Promise<WebAnswer>;
}
