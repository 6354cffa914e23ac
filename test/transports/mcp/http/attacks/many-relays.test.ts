// A client that joins with relays without end: those of others still join.
import { expect, test, vi } from "vitest";
import { systemRandom } from "../../../../../src/base/ids.ts";
import { mintSession } from "../../../../../src/session/session.ts";
import { TOKEN_LINES_MAX } from "../../../../../src/transports/mcp/http/mcp-http.ts";
import { openLines, parseKernelAddress } from "../../../../../src/transports/mcp/relay/lines-connection.ts";
import { BOUND } from "../../../../support/mcp-desk.ts";
import { serveMcpPlace } from "../../../../support/mcp-http-place.ts";
import { memoryKernel } from "../../../../support/memory-kernel.ts";

test("one token joins with a bounded number of relays, and a relay that leaves makes room", async () => {
  const kernel = await memoryKernel();
  const door = await serveMcpPlace(kernel.door);
  const join = (token: string) => openLines(parseKernelAddress(`http://127.0.0.1:${door.port}`), token);
  const joined = await Promise.all(Array.from({ length: TOKEN_LINES_MAX }, () => join(kernel.token)));
  await expect(join(kernel.token)).rejects.toThrow(/takes no lines \(429\).*end one of them/);
  // the control: another session's relay joins meanwhile
  const { lease } = kernel;
  const wanted = { ...kernel.session, leaseId: lease.id, lifetimeMs: 3_600_000 };
  const minted = await mintSession(kernel.sessions, wanted, { nowMs: kernel.time.nowMs, random: systemRandom });
  const other = await join(minted.token);
  other.output.end();
  joined[0]?.output.end();
  await vi.waitFor(async () => joined.push(await join(kernel.token)), BOUND);
  for (const { output } of joined) output.end();
  expect(door.errors).toEqual([]);
});

test("a relay whose connection breaks makes room, too", async () => {
  const kernel = await memoryKernel();
  const door = await serveMcpPlace(kernel.door);
  const join = () => openLines(parseKernelAddress(`http://127.0.0.1:${door.port}`), kernel.token);
  for (let round = 0; round < 3; round += 1) {
    const joined = [];
    while (joined.length < TOKEN_LINES_MAX) joined.push(await vi.waitFor(join, BOUND));
    for (const { output } of joined) output.destroy();
  }
  await vi.waitFor(join, BOUND);
});
