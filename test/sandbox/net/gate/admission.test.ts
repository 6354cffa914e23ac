// What the one gate lets through, in which order it asks, and that what it cannot find out is refused.
import { expect, test } from "vitest";
import { networksOf } from "../../../../src/names/address-class.ts";
import { canonicalHost } from "../../../../src/names/host-name.ts";
import { admit, BLOCKED_PORTS, type EgressVerdict } from "../../../../src/sandbox/net/gate/admission.ts";

const ALLOW: EgressVerdict = { kind: "allow" };

/** Asks for a host and port; says what was asked on the way. */
async function asked(
  name: string,
  { port = 443, decide = () => ALLOW, addresses = ["93.184.215.14"], own = [] as readonly string[] } = {} as {
    readonly port?: number;
    readonly decide?: () => EgressVerdict | Promise<EgressVerdict>;
    readonly addresses?: readonly string[];
    readonly own?: readonly string[];
  },
) {
  const steps: string[] = [];
  const host = canonicalHost(name);
  if (host === undefined) throw new Error(`\`${name}\` is no host`);
  const rules = {
    decide: () => {
      steps.push("decide");
      return decide();
    },
    blockedPorts: BLOCKED_PORTS,
  };
  const network = {
    lookUp: async () => {
      steps.push("look up");
      return addresses;
    },
    connect: () => {
      throw new Error("nothing is reached to decide");
    },
    ownNetworks: () => networksOf(own),
    isOwnPort: () => false,
  };
  const answer = await admit({ host, port }, { rules, network }, new AbortController().signal);
  return { answer, steps };
}

test("a public host that may be reached is admitted at its addresses", async () => {
  const { answer, steps } = await asked("example.com");
  expect(answer).toEqual({ kind: "admitted", addresses: ["93.184.215.14"] });
  expect(steps).toEqual(["decide", "look up"]);
});

test.each(BLOCKED_PORTS)("port %d is closed before anything is asked", async (port) => {
  const { answer, steps } = await asked("example.com", { port });
  expect(answer).toMatchObject({ kind: "refusal", reason: "blocked_port", status: 403 });
  expect(steps).toEqual([]);
});

test.each<[string, () => EgressVerdict | Promise<EgressVerdict>, string]>([
  ["a denied host", () => ({ kind: "deny", message: "no" }), "denied"],
  ["a host that nobody could decide on", () => Promise.reject(new Error("policy")), "undecided"],
])("%s is refused and not looked up", async (_, decide, reason) => {
  const { answer, steps } = await asked("example.com", { decide });
  expect(answer).toMatchObject({ kind: "refusal", reason });
  expect(steps).toEqual(["decide"]);
});

test.each([
  ["loopback", "example.com", ["127.0.0.1"]],
  ["metadata", "example.com", ["169.254.169.254"]],
  ["one private address among public ones", "example.com", ["93.184.215.14", "10.0.0.1"]],
  ["an address that is written out", "10.0.0.1", ["10.0.0.1"]],
  ["IPv4 inside IPv6", "example.com", ["::ffff:10.0.0.1"]],
])("what leads inside is refused, and the answer does not say where: %s", async (_, name, addresses) => {
  const { answer } = await asked(name, { addresses });
  expect(answer).toMatchObject({ kind: "refusal", status: 403, reason: expect.stringMatching(/^address_/) });
  const { message } = answer as { readonly message: string };
  for (const address of addresses) if (address !== name) expect(message).not.toContain(address);
});

test("a network of the machine's own is refused, though its addresses are public ones", async () => {
  const own = ["93.184.215.0/24"];
  expect((await asked("example.com", { own })).answer).toMatchObject({ kind: "refusal", status: 403 });
});
