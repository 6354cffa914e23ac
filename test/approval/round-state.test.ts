// State between two rounds of a call opens what it was sealed for, and nothing else.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  openRound,
  ROUND_STATE_CHARACTERS_MAX,
  type RoundFacts,
  roundCall,
  sealRound,
} from "../../src/approval/round-state.ts";

const KEY = new Uint8Array(32).fill(7);
const CALL = roundCall(KEY, "write_file", { path: "a.txt", content: "one" });
const FACTS: RoundFacts = {
  ref: `blake3:${"a".repeat(64)}`,
  sessionId: "ses_1",
  client: "desk",
  call: CALL,
  answersBefore: 1,
  expiresAtMs: 5000,
};
const AS = { sessionId: "ses_1", client: "desk", call: CALL, nowMs: 4999 };
const NOT_OURS = { ok: false, problem: "it is none of this kernel's, or was changed" };
const state = sealRound(KEY, FACTS);

test("state opens for what it was sealed for, to the last moment", () => {
  expect(openRound(KEY, state, AS)).toEqual({ ok: true, round: FACTS });
  expect(openRound(KEY, state, { ...AS, nowMs: 5000 })).toEqual({ ok: false, problem: "its time is over" });
});

test.each([
  ["another session", { sessionId: "ses_2" }, "it belongs to another session"],
  ["another client", { client: "desk2" }, "it belongs to another client"],
  [
    "another tool",
    { call: roundCall(KEY, "edit_file", { path: "a.txt", content: "one" }) },
    "it belongs to another call",
  ],
  [
    "other arguments",
    { call: roundCall(KEY, "write_file", { path: "a.txt", content: "one " }) },
    "it belongs to another call",
  ],
  ["arguments that no call can have", { call: "" }, "it belongs to another call"],
])("%s opens nothing", (_, change, problem) => {
  expect(openRound(KEY, state, { ...AS, ...change })).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

test("state that differs in one character, is cut or longer, or was sealed with another key, opens nothing", () => {
  fc.assert(
    fc.property(fc.nat(state.length - 1), fc.constantFrom(..."Aa0_-.=+/ \n"), (at, character) => {
      const changed = state.slice(0, at) + character + state.slice(at + 1);
      if (changed !== state) expect(openRound(KEY, changed, AS)).toEqual(NOT_OURS);
      expect(openRound(KEY, state.slice(0, at), AS)).toEqual(NOT_OURS);
      expect(openRound(KEY, `${state.slice(0, at)}${character}${state.slice(at)}`, AS)).toEqual(NOT_OURS);
    }),
  );
  expect(openRound(new Uint8Array(32), state, AS)).toEqual(NOT_OURS);
  expect(openRound(KEY, `${state}.`, AS)).toEqual(NOT_OURS);
});

test("whatever else comes as state opens nothing", () => {
  for (const other of [
    undefined,
    null,
    7,
    {},
    [],
    "",
    ".",
    "..",
    "a.b",
    "x".repeat(ROUND_STATE_CHARACTERS_MAX + 1),
    "\ud800.\ud800",
  ])
    expect(openRound(KEY, other, AS)).toEqual(NOT_OURS);
  fc.assert(fc.property(fc.string(), (text) => void expect(openRound(KEY, text, AS)).toEqual(NOT_OURS)));
  fc.assert(fc.property(fc.jsonValue(), (value) => void expect(openRound(KEY, value, AS)).toEqual(NOT_OURS)));
});

test("state says nothing about the arguments", () => {
  const [text = ""] = state.split(".");
  expect(Object.keys(JSON.parse(Buffer.from(text, "base64url").toString()) as object).sort()).toEqual(
    Object.keys(FACTS).sort(),
  );
  expect(roundCall(new Uint8Array(32), "write_file", { path: "a.txt", content: "one" })).not.toBe(CALL);
});

test("names of any length that a client can have fit", () => {
  const long = sealRound(KEY, { ...FACTS, client: "ü".repeat(256), sessionId: `ses_${"x".repeat(60)}` });
  expect(long.length).toBeLessThan(ROUND_STATE_CHARACTERS_MAX);
});
