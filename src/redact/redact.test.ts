// Redaction of secrets that the kernel holds: every occurrence, counted, and nothing else.
import { expect, test } from "vitest";
import { redactText } from "./redact.ts";

const known = [{ rule: "session-token", value: "ses_x.secret" }];

test("every occurrence is replaced and counted", () => {
  expect(redactText("a ses_x.secret b ses_x.secret", known)).toEqual({
    text: "a [REDACTED:session-token] b [REDACTED:session-token]",
    findings: 2,
  });
});

test("text without the secret is the same", () => {
  expect(redactText("nothing to see", known)).toEqual({ text: "nothing to see", findings: 0 });
});

test("an empty secret hides nothing", () => {
  expect(redactText("text", [{ rule: "empty", value: "" }])).toEqual({ text: "text", findings: 0 });
});
