/** The HTTP front door: Connect, gRPC and gRPC-Web. */
export type { AdminPort } from "./admin-port.ts";
export { type ConnectAddress, type ConnectServer, serveConnect } from "./connect-server.ts";
export type { ConnectLimits } from "./limits.ts";
