/** The HTTP front door: Connect, gRPC and gRPC-Web. */

export { type ConnectAddress, type ConnectServer, serveConnect } from "./connect-server.ts";
export type { AdminPort } from "./methods/admin-port.ts";
export type { OtherDoor } from "./other-door.ts";
export { refusePages } from "./wire/guard.ts";
export type { ConnectLimits } from "./wire/limits.ts";
