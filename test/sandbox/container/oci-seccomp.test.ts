// The filter of a container against the filter of bwrap: the same calls come to the same end.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALLOWED_CALLS } from "../../../src/sandbox/container/allowed-calls.ts";
import { type OciSeccomp, ociSeccomp } from "../../../src/sandbox/container/oci-seccomp.ts";
import { seccompProgram } from "../../../src/sandbox/plan/seccomp.ts";
import {
  AUDIT_ARCHITECTURE,
  callNumber,
  JUDGED_CALLS,
  PROCESSORS,
  REFUSED_CALLS,
} from "../../../src/sandbox/plan/syscall-numbers.ts";
import { judgedByProgram } from "../../support/seccomp-machine.ts";

/** What becomes of a call, as the library decides: the rules that match must agree. */
function judged({ syscalls, defaultErrnoRet }: OciSeccomp, name: string, args: readonly bigint[]): string {
  const matching = syscalls.filter(
    (rule) =>
      rule.names.includes(name) &&
      (rule.args ?? []).every(
        ({ index, value, valueTwo }) => ((args[index] ?? 0n) & BigInt(value)) === BigInt(valueTwo),
      ),
  );
  const ends = new Set(
    matching.map(({ action, errnoRet }) => (action === "SCMP_ACT_ALLOW" ? "allow" : `errno ${errnoRet}`)),
  );
  if (ends.size > 1) throw new Error(`the rules for ${name} contradict each other`);
  return [...ends][0] ?? `errno ${defaultErrnoRet}`;
}

/** Numbers near those that rules name, and any others. */
const interesting = fc.oneof(
  fc.constantFrom(
    0,
    1,
    2,
    3,
    8,
    10,
    16,
    17,
    4,
    40,
    1024,
    1026,
    1030,
    0x5412,
    0x541c,
    0x20000,
    0x20008,
    0x40000,
    0xffffffff,
    0o4755,
    0o2755,
    0o644,
    0o101,
    0x3d0f00,
  ),
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.integer({ min: 0, max: 31 }).map((place) => 2 ** place),
);

describe.each(PROCESSORS)("on %s", (processor) => {
  const profile = ociSeccomp(processor);
  const { bytes } = seccompProgram(processor);
  const known = { ...REFUSED_CALLS, ...JUDGED_CALLS };

  test("every call that a rule names ends as under bwrap, whatever its arguments and what stands in their high halves", () => {
    const names = Object.keys(known).filter(
      (name) => callNumber(known[name as keyof typeof known], processor) !== undefined,
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.array(interesting, { minLength: 6, maxLength: 6 }),
        interesting,
        (name, args, high) => {
          const number = callNumber(known[name as keyof typeof known], processor) as number;
          const wide = args.map((argument) => (BigInt(high) << 32n) | BigInt(argument));
          expect(judged(profile, name, wide)).toBe(
            judgedByProgram(bytes, number, args, AUDIT_ARCHITECTURE[processor], high),
          );
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test("a call that nothing names does not exist, and no call is named twice", () => {
    expect([judged(profile, "newer_than_all", []), judged(profile, "read", [])]).toEqual(["errno 38", "allow"]);
    expect(ALLOWED_CALLS.filter((name) => name in known)).toEqual([]);
    expect(new Set(ALLOWED_CALLS).size).toBe(ALLOWED_CALLS.length);
  });

  test("one processor's calls alone, and few enough rules", () => {
    expect(profile.architectures).toHaveLength(1);
    expect(profile.syscalls.length).toBeLessThan(400);
  });
});
