// Batches wait for room in the order in which they came, and whoever is cancelled waits no more.
import { expect, test } from "vitest";
import { HeldDirectories } from "../../../../src/sandbox/search/tree/held-directories.ts";

const NOBODY = new AbortController().signal;

test("there is never more held than allowed, and everybody gets in, in order", async () => {
  const room = new HeldDirectories(10);
  const order: number[] = [];
  let most = 0;
  await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const count = 1 + (index % 7);
      expect(await room.take(count, NOBODY)).toBe(true);
      order.push(index);
      most = Math.max(most, room.held);
      await new Promise((resolve) => setImmediate(resolve));
      room.give(count);
    }),
  );
  expect(order).toEqual(Array.from({ length: 50 }, (_, index) => index));
  expect(most).toBeLessThanOrEqual(10);
  expect(room.held).toBe(0);
});

test("what would never fit gets in alone", async () => {
  const room = new HeldDirectories(2);
  expect(await room.take(5, NOBODY)).toBe(true);
  const next = room.take(1, NOBODY);
  room.give(5);
  expect(await next).toBe(true);
  expect(room.held).toBe(1);
});

test("whoever is cancelled while waiting takes nothing and keeps nobody waiting", async () => {
  const room = new HeldDirectories(2);
  await room.take(1, NOBODY);
  const controller = new AbortController();
  const cancelled = room.take(2, controller.signal);
  const behind = room.take(1, NOBODY);
  controller.abort();
  expect(await cancelled).toBe(false);
  expect(await behind).toBe(true);
  expect(room.held).toBe(2);
  expect(await room.take(1, controller.signal)).toBe(false);
});
