// The operator's door: nothing is allowed by a part that was not understood, and nobody learns anything before the
// credential.
import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { KernelError } from "../../../src/base/errors.ts";
import { CreateLeaseRequestSchema } from "../../../src/gen/handrail/admin/v1/admin_pb.ts";
import { ContentHeaderSchema } from "../../../src/gen/handrail/tool/v1/kernel_pb.ts";
import type { Denial } from "../../../src/model/outcome/decision.ts";
import type { LeaseScope } from "../../../src/model/people/lease.ts";
import type { AdminPort } from "../../../src/transports/connect/methods/admin-port.ts";
import { hasUnknown } from "../../../src/transports/connect/wire/unknown-fields.ts";
import { clientsOf, PROTOCOLS, quickDoor, serveFront } from "../../support/front-door.ts";
import { http1, rawConnection } from "../../support/raw-http.ts";

const BEARER = { authorization: "Bearer adm_1.x" };
/** Field 60, a text, which no message here has. */
const UNKNOWN = Buffer.from([0xe2, 0x03, 0x01, 0x61]);

/** A port that makes leases and remembers them. */
function port(more: Partial<AdminPort> = {}) {
  const scopes: LeaseScope[] = [];
  const wishes: unknown[] = [];
  const admin = {
    authenticate: async () => true,
    createLease: async (scope: LeaseScope) => {
      scopes.push(scope);
      return { id: "lease-1", scope, budget: {}, createdAtMs: 1, expiresAtMs: 2 };
    },
    createSession: async (wish: unknown) => {
      wishes.push(wish);
      throw new KernelError("WORKSPACE_INVALID", "there is no such workspace");
    },
    ...more,
  } as unknown as AdminPort;
  return { admin, scopes, wishes };
}

async function recording(admin: AdminPort) {
  const recorded: Denial[] = [];
  const door = quickDoor({ recordRefusal: async (denial) => void recorded.push(denial) });
  return { front: await serveFront(door, {}, admin), recorded };
}

describe("a restriction that this kernel does not know", () => {
  const lease = toBinary(
    CreateLeaseRequestSchema,
    create(CreateLeaseRequestSchema, { lifetimeMs: 1000n, scope: { tools: [{ patterns: ["read_*"] }] } }),
  );
  const inScope = Buffer.concat([lease, Buffer.from([0x0a, UNKNOWN.length]), UNKNOWN]);
  const ask = async (socketPath: string, body: Uint8Array) => {
    const connection = await rawConnection(socketPath);
    connection.write(
      http1("/handrail.admin.v1.KernelAdmin/CreateLease", { "content-type": "application/proto", ...BEARER }, body),
    );
    return connection.until(/\r\n\r\n[\s\S]/);
  };

  test("control: without it the lease is made", async () => {
    const { admin, scopes } = port();
    const { front } = await recording(admin);
    expect(await ask(front.socketPath, lease)).toMatch(/^HTTP\/1.1 200/);
    expect(scopes).toHaveLength(1);
  });

  test.each([
    ["of the lease", Buffer.concat([lease, UNKNOWN])],
    ["of its scope", inScope],
  ])("%s makes no lease, and is recorded", async (_, body) => {
    const { admin, scopes } = port();
    const { front, recorded } = await recording(admin);
    expect(await ask(front.socketPath, body)).toMatch(/invalid_argument.*does not know/);
    expect(scopes).toEqual([]);
    expect(recorded).toEqual([expect.objectContaining({ layer: "validate", ruleId: "WIRE:rpc" })]);
  });

  test("is seen in whatever part of a message it is", () => {
    const header = create(ContentHeaderSchema, { contentHash: new Uint8Array(32) });
    expect(hasUnknown({ part: { case: "header", value: header }, list: [1n, "a", null] })).toBe(false);
    header.$unknown = [{ no: 60, wireType: 2, data: new Uint8Array(1) }];
    expect(hasUnknown({ part: { case: "header", value: header } })).toBe(true);
    expect(hasUnknown({ list: [{ part: [header] }] })).toBe(true);
  });
});

describe("whoever has no credential", () => {
  test.each(PROTOCOLS)("is refused and recorded: %s", async (protocol) => {
    const { front, recorded } = await recording(port().admin);
    await expect(clientsOf(front, protocol).admin.getHealth({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(recorded).toEqual([expect.objectContaining({ layer: "authenticate" })]);
  });

  test("is not told of files when credentials cannot be read", async () => {
    const problem = new KernelError("CONFIG_INVALID", "`/home/op/.local/state/handrail/admin` must belong to you");
    const { front } = await recording(port({ authenticate: () => Promise.reject(problem) }).admin);
    const failed = await clientsOf(front, "connect/1.1")
      .admin.getHealth({}, { headers: BEARER })
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: Code.Unavailable, rawMessage: expect.not.stringContaining("/home") });
    expect(front.errors).toEqual([problem]);
  });
});

test("names of users and agents are as long as any id at most, in characters", async () => {
  const { admin, wishes } = port();
  const { front } = await recording(admin);
  const client = clientsOf(front, "connect/1.1").admin;
  const ask = (names: object) => client.createSession({ workspace: "/w", ...names }, { headers: BEARER });
  await expect(ask({ userId: "x".repeat(257) })).rejects.toMatchObject({ code: Code.InvalidArgument });
  await expect(ask({ agentId: "x".repeat(257) })).rejects.toMatchObject({ code: Code.InvalidArgument });
  expect(wishes).toEqual([]);
  await expect(ask({ userId: "🦀".repeat(256), agentId: "" })).rejects.toMatchObject({ code: Code.FailedPrecondition });
  expect(wishes).toEqual([expect.objectContaining({ userId: "🦀".repeat(256), agentId: "agent" })]);
});
