/** Serves one MCP client on standard streams with a kernel that runs elsewhere, under another user. */
import { LineRelay } from "../../transports/mcp/relay/line-relay.ts";
import { openLines, parseKernelAddress } from "../../transports/mcp/relay/lines-connection.ts";

/** What joins a kernel. */
export interface JoinOptions {
  /** `http://HOST:PORT` or `unix:PATH`. */
  readonly address: string;
  readonly token: string;
  readonly report: (problem: string) => void;
}

/** Relays until the client is gone. @throws KernelError USAGE for what is no address */
export async function joinKernel({ address, token, report }: JoinOptions): Promise<void> {
  const to = parseKernelAddress(address);
  const relay = new LineRelay({ open: () => openLines(to, token), report }, process.stdout);
  await relay.run(process.stdin);
}
