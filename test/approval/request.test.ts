/**
 * Requests as they are stored: none outlives the session that it was made for, nor what the operator lets them live.
 */
import { expect, test } from "vitest";
import { newApproval } from "../../src/approval/requests/request.ts";
import { systemRandom } from "../../src/base/ids.ts";

const NOW_MS = 1_700_000_000_000;
const DESCRIBED = { id: "write_file:execute", tool: "write_file", action: "execute", summary: "writes", risks: [] };

const expiryOf = (sessionEndsAtMs: number) => {
  const caller = { userId: "ann", agentId: "agent", serviceRoot: "/w", sessionId: "ses_one", sessionEndsAtMs };
  const wanted = {
    call: "c",
    binding: "b",
    caller,
    requestId: "r",
    tool: "write_file",
    rules: ["rule"],
    inBand: false,
    covers: [],
  };
  const asked = { ...wanted, describe: async () => DESCRIBED };
  return (
    newApproval(asked, DESCRIBED, { nowMs: NOW_MS, lifetimeMs: 900_000, random: systemRandom }).expiresAtMs - NOW_MS
  );
};

test.each([
  ["a session that goes on", 900_001, 900_000],
  ["a session that ends with it", 900_000, 900_000],
  ["a session that ends before", 899_999, 899_999],
])("a request of %s lives as long as both", (_what, sessionMs, livesMs) => {
  expect(expiryOf(NOW_MS + sessionMs)).toBe(livesMs);
});
