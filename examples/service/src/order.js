/** Sum of the order's lines in cents, with the discount of large orders. */
export function orderTotal(lines) {
  const sum = lines.reduce((total, line) => total + line.quantity * line.unitPriceCents, 0);
  return sum >= LARGE_ORDER_CENTS ? Math.round(sum * 0.95) : sum;
}

/** Orders from this sum on get five percent off. */
export const LARGE_ORDER_CENTS = 100_000;
