/** Estimates tokens of answers as four characters each, and cuts lists to what fits. Pure. */
import { numberArgument } from "../../kit/argument.ts";

/** Characters that count as a token. */
export const CHARACTERS_PER_TOKEN = 4;
const TOKENS_MIN = 100;
const TOKENS_MAX = 25_000;

/** The argument `max_tokens`. */
export function tokensArgument(tokens: number) {
  const description = `Most tokens of the answer, at ${CHARACTERS_PER_TOKEN} characters each. Default ${tokens}.`;
  return numberArgument(description, TOKENS_MIN, TOKENS_MAX);
}

/** What is left of a budget while an answer is put together. */
export class TokenBudget {
  #characters: number;
  constructor(tokens: number) {
    this.#characters = tokens * CHARACTERS_PER_TOKEN;
  }

  /** Takes what is in the answer whatever it costs. */
  spend(value: unknown): void {
    this.#characters -= sizeOf(value);
  }

  /** The first of `items` that fit; those behind the first that does not are left out. */
  fit<Item>(items: readonly Item[]): { readonly shown: readonly Item[]; readonly leftOut: number } {
    let count = 0;
    for (const item of items) {
      const size = sizeOf(item);
      if (size > this.#characters) break;
      this.#characters -= size;
      count += 1;
    }
    return { shown: items.slice(0, count), leftOut: items.length - count };
  }
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
