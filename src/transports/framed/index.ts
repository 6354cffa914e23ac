/** The framed socket: its server and a client of it. */
export { connectFramed, type FramedClient } from "./framed-client.ts";
export { type FramedOptions, type FramedServer, serveFramed } from "./framed-server.ts";
export { DEFAULT_FRAMED_LIMITS, type FramedLimits } from "./limits.ts";
