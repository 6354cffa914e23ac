/** What a command of a call may reach, and what its tool learns of it. */
import { expect, test } from "vitest";
import type { Analysed } from "../../../src/kernel/call/stages.ts";
import { commandEgress } from "../../../src/kernel/handles/exec-egress.ts";
import { Refusal } from "../../../src/model/outcome/failure.ts";
import type { Access } from "../../../src/model/place/access.ts";
import type { EgressAttempt } from "../../../src/sandbox/sandbox.ts";

const host = (name: string, port: number): Access => ({
  resource: { kind: "host", host: name, port },
  effect: "network",
});
const analysedCall = (accesses: readonly Access[], blockedPorts?: readonly number[]): Analysed =>
  ({
    accesses,
    tool: { name: "shell", capability: { network: { mode: "any", ...(blockedPorts && { blockedPorts }) } } },
  }) as unknown as Analysed;
const written = async () => undefined;
const TOTALS = { allowed: 2, refused: 1, failed: 1, unreported: 0, bytesOut: 10, bytesIn: 20 };
const attempt = (name: string, outcome: EgressAttempt["outcome"], reason?: EgressAttempt["reason"]): EgressAttempt => ({
  ...{ host: name, port: 443, via: "tunnel", outcome, bytesOut: 0, bytesIn: 0, durationMs: 1 },
  ...(reason && { reason }),
});

test("a command reaches the hosts that analysis named, at their ports, however they are written", async () => {
  const analysed = analysedCall([
    host("Registry.Example.", 443),
    host("[2606:4700::1]", 443),
    host("other.example", 443),
  ]);
  const { grant } = commandEgress(analysed, ["registry.example:443", "2606:4700::1:443"], written);
  expect(await Promise.all([grant.decide("registry.example", 443), grant.decide("2606:4700::1", 443)])).toEqual([
    { kind: "allow" },
    { kind: "allow" },
  ]);
  const message =
    "this command may reach `registry.example:443`, `2606:4700::1:443` alone; name `registry.example:80` in a call that asks for the network";
  expect(await grant.decide("registry.example", 80)).toEqual({ kind: "deny", message });
  // named, and not asked for by the tool
  expect(await grant.decide("other.example", 443)).toMatchObject({ kind: "deny" });
});

test("a host that analysis did not name refuses the command, and no hosts mean none", async () => {
  const analysed = analysedCall([host("registry.example", 443)]);
  expect(() => commandEgress(analysed, ["registry.example:443", "evil.example:443"], written)).toThrow(Refusal);
  expect(() => commandEgress(analysed, ["registry.example:80"], written)).toThrow(Refusal);
  const { grant } = commandEgress(analysed, [], written);
  expect(await grant.decide("registry.example", 443)).toEqual({
    kind: "deny",
    message: "this command may reach no host; name `registry.example:443` in a call that asks for the network",
  });
});

test("the tool learns what was refused once it is recorded; what cannot be recorded fails the call", async () => {
  const records: EgressAttempt[] = [];
  const { grant, outcome } = commandEgress(analysedCall([]), [], async (each) => records.push(each));
  grant.record(attempt("a.example", "allowed"));
  for (let count = 0; count < 30; count += 1) grant.record(attempt("b.example", "refused", "denied"));
  const { problems, ...counts } = await outcome(TOTALS);
  expect(counts).toEqual({ allowed: 2, refused: 1, failed: 1, bytesOut: 10, bytesIn: 20 });
  expect(problems).toEqual(Array(20).fill({ host: "b.example", port: 443, reason: "denied" }));
  expect(records.length).toBe(31);

  const failing = commandEgress(analysedCall([]), [], () => Promise.reject(new Error("the ledger is away")));
  failing.grant.record(attempt("a.example", "allowed"));
  await expect(failing.outcome(TOTALS)).rejects.toThrow("the ledger is away");
});

test("closed ports are those of the tool, where it names some", () => {
  expect(commandEgress(analysedCall([], [22, 8080]), [], written).grant.blockedPorts).toEqual([22, 8080]);
  expect(commandEgress(analysedCall([]), [], written).grant.blockedPorts).toBeUndefined();
});

test("each host that was tried is told with what became of it, and of very many the first", () => {
  const { grant, reached } = commandEgress(analysedCall([]), [], written);
  grant.record({ ...attempt("a.example", "allowed"), bytesOut: 12, bytesIn: 3 });
  grant.record({ ...attempt("a.example", "failed"), bytesOut: 1 });
  grant.record(attempt("b.example", "refused", "denied"));
  expect(reached()).toEqual([
    { host: "a.example", port: 443, allowed: 1, refused: 0, failed: 1, bytesOut: 13, bytesIn: 3 },
    { host: "b.example", port: 443, allowed: 0, refused: 1, failed: 0, bytesOut: 0, bytesIn: 0 },
  ]);
  for (let count = 0; count < 1000; count += 1) grant.record(attempt(`${count}.example`, "refused", "denied"));
  expect(reached()).toHaveLength(256);
});

test("of each host it is known which secrets went there, each once", () => {
  const { grant, reached } = commandEgress(analysedCall([]), [], written);
  grant.record({ ...attempt("a.example", "allowed"), secrets: ["KEY_B"] });
  grant.record({ ...attempt("a.example", "allowed"), secrets: ["KEY_A", "KEY_B"] });
  grant.record(attempt("b.example", "allowed"));
  expect(reached().map(({ host: name, secrets }) => [name, secrets])).toEqual([
    ["a.example", ["KEY_A", "KEY_B"]],
    ["b.example", undefined],
  ]);
});
