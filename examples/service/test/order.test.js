// What an order costs, below and at the discount.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LARGE_ORDER_CENTS, orderTotal } from "../src/order.js";

test("a small order costs the sum of its lines", () => {
  assert.equal(orderTotal([{ quantity: 2, unitPriceCents: 250 }]), 500);
});

test("a large order gets five percent off", () => {
  assert.equal(orderTotal([{ quantity: 1, unitPriceCents: LARGE_ORDER_CENTS }]), 95_000);
});
