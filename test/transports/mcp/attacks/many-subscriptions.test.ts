// One session that watches its tools many times over costs the kernel no more looks than one that does once.
import { expect, test } from "vitest";
import { toolList } from "../../../../src/transports/mcp/answers/offered-list.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";

/** How often the kernel is asked for the tools of a session with so many watchers. */
async function looksOf(count: number) {
  const kernel = await memoryKernel();
  let looks = 0;
  const door = {
    ...kernel.door,
    offered: (token: string) => {
      looks += 1;
      return kernel.door.offered(token);
    },
  };
  const list = toolList({
    door,
    sessionToken: kernel.token,
    onListed: () => undefined,
    onError: () => undefined,
  });
  const ends = Array.from({ length: count }, () => list.watch(() => undefined));
  const beganMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  for (const end of ends) end();
  const atEnd = looks;
  const mostLooks = (performance.now() - beganMs) / 400 + 2;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  return { looks: atEnd, mostLooks, later: looks - atEnd };
}

test("many watchers look no more often than one, and nobody looks after the last has left", async () => {
  const one = await looksOf(1);
  const many = await looksOf(64);
  expect(one.looks).toBeGreaterThan(0); // the control: there is something to count
  // one look each 400 ms, and the first; an idle or a busy machine makes fewer, never more
  for (const { looks, mostLooks, later } of [one, many]) expect([looks <= mostLooks, later <= 1]).toEqual([true, true]);
});
