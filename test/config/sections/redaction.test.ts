/**
 * The digest of a redactor: the same for the same rules and values, another one for any other, and nothing to guess
 * from.
 */
import { expect, test } from "vitest";
import { defaultSettings } from "../../../src/config/config.ts";
import type { RedactionSettings } from "../../../src/config/sections/redaction.ts";
import { openRedactor } from "../../../src/server/operator/redaction.ts";

const KEY = new Uint8Array(32).fill(1);
const PLAIN = defaultSettings().redaction;
const RULE = {
  id: "acme-key",
  kind: "definite",
  keywords: ["acme_"],
  expression: "acme_[0-9a-f]{16}",
  case_insensitive: false,
  examples: { secret: ["acme_0123456789abcdef"], clean: [] },
} as const;
const ALLOWANCE = { value: "acme_0123456789abcdef", examples: { allowed: [], hidden: [] } };

const digest = (settings: Partial<RedactionSettings> = {}, environment: Record<string, string> = {}, key = KEY) =>
  openRedactor({ ...PLAIN, ...settings } as RedactionSettings, environment, { name: "handrail.yaml" }).digest(key);

test("two redactors of the same configuration and environment have the same digest", () => {
  const make = () => digest({ rules: [RULE] } as never, { DB_PASSWORD: "hunter2hunter2", HOME: "/home/a" });
  expect(make()).toBe(make());
  // What is no secret is no part of it.
  expect(digest({}, { HOME: "/home/a" })).toBe(digest({}, { HOME: "/home/b" }));
});

test("a rule, an allowance, a known value or another key gives another one", () => {
  const all = [
    digest(),
    digest({ rules: [RULE] } as never),
    digest({ rules: [{ ...RULE, kind: "probable" }] } as never),
    digest({ rules: [RULE], allow: [ALLOWANCE] } as never),
    digest({ rules: [RULE], allow: [{ ...ALLOWANCE, rule: "acme-key" }] } as never),
    digest({}, { DB_PASSWORD: "hunter2hunter2" }),
    digest({}, { DB_PASSWORD: "hunter2hunter3" }),
    digest({}, { API_PASSWORD: "hunter2hunter2" }),
    digest({ environment: { secret: [], harmless: ["DB_PASSWORD"] } } as never, {
      DB_PASSWORD: "x",
      API_PASSWORD: "hunter2hunter4",
    }),
    digest({}, {}, new Uint8Array(32).fill(2)),
  ];
  expect(new Set(all).size).toBe(all.length);
  for (const each of all) expect(each).toMatch(/^[0-9a-f]{64}$/);
});
