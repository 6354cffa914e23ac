/**
 * MCP over a line transport, for clients of revision 2026-07-28 and of those before.
 *
 * Every `tools/call` goes through the kernel's door under the session of this client. Nothing is decided here: names,
 * schemas and results are the kernel's. Schemas are converted once.
 */
import type { Readable, Writable } from "node:stream";
import { DirectCalls } from "./direct-calls.ts";
import { LegacyEra } from "./legacy-era.ts";
import { LineTransport } from "./lines/stdio-transport.ts";
import { ModernEra } from "./modern.ts";
import type { McpOptions } from "./protocol/options.ts";
import { sourceOf } from "./session-source.ts";

/** Serves one client over a pair of streams; resolves when the client is gone. */
export async function serveMcp(options: McpOptions, input: Readable, output: Writable): Promise<void> {
  const source = sourceOf(options);
  const modern = new ModernEra(source);
  const transport = new DirectCalls(new LineTransport(input, output), options, modern);
  const legacy = new LegacyEra(source, transport);
  const gone = new Promise<void>((resolve) => {
    transport.onclose = () => {
      legacy.close();
      modern.close();
      resolve();
    };
  });
  transport.onerror = options.onError;
  transport.onmessage = (message) => legacy.take(message);
  await transport.start();
  await gone;
}
