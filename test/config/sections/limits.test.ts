// Limits in handrail.yaml: amounts as people write them, and nothing that could be read as something else.
import { expect, test } from "vitest";
import { parseSettings } from "../../../src/config/config.ts";

const parsed = async (text: string) => (await parseSettings(`limits:\n${text}`, "handrail.yaml")).limits;

test("amounts, periods and rates are taken as they are written", async () => {
  const text = `  per_session: {calls: 1000, duration: 1h, bytes: 1GB}
  per_principal: {period: hour, tokens: 50000, cost: 2.50}
  rate:
    calls_per_minute: 600
    session: {calls_per_minute: 60, burst: 10}
    tools: {shell: {calls_per_minute: 10}}
`;
  expect(await parsed(text)).toEqual({
    operations_at_once: 8,
    per_session: { period: "lifetime", calls: 1000, duration: 3_600_000, bytes: 2 ** 30 },
    per_principal: { period: "hour", tokens: 50_000, cost: 2_500_000 },
    rate: {
      calls_per_minute: 600,
      session: { calls_per_minute: 60, burst: 10 },
      tools: { shell: { calls_per_minute: 10 } },
    },
  });
  expect(await parsed("  per_principal: {calls: 0}\n")).toEqual({
    operations_at_once: 8,
    per_principal: { period: "day", calls: 0 },
  });
});

test.each([
  ["  operations_at_once: 0", "limits.operations_at_once"],
  ["  operations_at_once: 1025", "limits.operations_at_once"],
  ["  per_session: {calls: -1}", "limits.per_session.calls: write a whole number"],
  ["  per_session: {calls: 1.5}", "limits.per_session.calls"],
  ["  per_session: {calls: 10000000000000000}", "limits.per_session.calls"],
  ["  per_session: {duration: 1 week}", "limits.per_session.duration: write a duration"],
  ["  per_session: {duration: 60}", "limits.per_session.duration"],
  ["  per_session: {bytes: 1Gb}", "limits.per_session.bytes"],
  ["  per_session: {cost: 1.2345678}", "limits.per_session.cost"],
  ["  per_session: {money: 3}", "limits.per_session"],
  ["  per_session: {period: year}", "limits.per_session.period"],
  ["  rate: {calls_per_minute: 0}", "limits.rate.calls_per_minute"],
  ["  rate: {burst: 5}", "`burst` needs `calls_per_minute`"],
  ["  rate: {tools: {shell: {burst: 5}}}", "limits.rate.tools.shell.calls_per_minute"],
])("%s is refused, and the message says where", async (text, problem) => {
  await expect(parsed(`${text}\n`)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining(problem),
  });
});
