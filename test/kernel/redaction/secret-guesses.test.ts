/** How much may be tried on files with hidden text: by whom, for how long, and how much of it is remembered. */
import { expect, test } from "vitest";
import {
  SECRET_GUESS_WINDOW_MS,
  SECRET_GUESSERS_MAX,
  SECRET_GUESSES_MAX,
  SecretGuesses,
} from "../../../src/kernel/redaction/secret-guesses.ts";

const guesser = { userId: "u", agentId: "a", serviceRoot: "/srv/a" };

function missed(guesses: SecretGuesses, count: number, nowMs: number, who = guesser): void {
  for (let index = 0; index < count; index += 1) guesses.missed(who, nowMs);
}

test("up to the limit nobody waits, from it on until the window is over", () => {
  const guesses = new SecretGuesses();
  missed(guesses, SECRET_GUESSES_MAX - 1, 1000);
  expect(guesses.waitMs(guesser, 1000)).toBe(0);
  missed(guesses, 1, 3000);
  expect(guesses.waitMs(guesser, 3000)).toBe(SECRET_GUESS_WINDOW_MS - 2000);
  expect(guesses.waitMs(guesser, 1000 + SECRET_GUESS_WINDOW_MS - 1)).toBe(1);
  expect(guesses.waitMs(guesser, 1000 + SECRET_GUESS_WINDOW_MS)).toBe(0);
});

test("each principal in each workspace counts for itself", () => {
  const guesses = new SecretGuesses();
  missed(guesses, SECRET_GUESSES_MAX, 0);
  expect(guesses.waitMs(guesser, 0)).toBeGreaterThan(0);
  for (const other of [{ userId: "v" }, { agentId: "b" }, { serviceRoot: "/srv/b" }])
    expect(guesses.waitMs({ ...guesser, ...other }, 0)).toBe(0);
});

test("a clock that was set back holds nobody up", () => {
  const guesses = new SecretGuesses();
  missed(guesses, SECRET_GUESSES_MAX, 1_000_000);
  expect(guesses.waitMs(guesser, 0)).toBe(0);
});

test("beyond what is remembered, whoever began longest ago is forgotten", () => {
  const guesses = new SecretGuesses();
  missed(guesses, SECRET_GUESSES_MAX, 0);
  const other = (index: number) => ({ ...guesser, agentId: `other-${index}` });
  for (let index = 1; index < SECRET_GUESSERS_MAX; index += 1) guesses.missed(other(index), 1);
  expect(guesses.waitMs(guesser, 1)).toBeGreaterThan(0);
  guesses.missed(other(SECRET_GUESSERS_MAX), 1);
  expect(guesses.waitMs(guesser, 1)).toBe(0);
});
