/** The framed socket: its server and a client of it. */
export { connectFramed } from "./framed-client.ts";
export { type FramedServer, serveFramed } from "./framed-server.ts";
export type { FramedLimits } from "./limits.ts";
export { clearSocketPath, listenOwnerOnly } from "./socket-file.ts";
