/**
 * Every door makes sessions by one rule: without the admin credential a client asks, who gets what the operator grants.
 */
import { expect, onTestFinished, test } from "vitest";
import { createKernel } from "../../../../../src/server/doors/library.ts";
import { handrail } from "../../../../support/command-line.ts";
import { freshPlace, type Place } from "../../../../support/place.ts";
import { startRpc } from "../../../../support/rpc-client.ts";

type Door = (place: Place, args: readonly string[], environment?: Readonly<Record<string, string>>) => Promise<string>;

/** What a door says: `open`, or why not. */
const said = ({ code, stderr }: { readonly code: number | string; readonly stderr: string }): string =>
  String(code) === "0" ? "open" : stderr.replace(/^handrail: /, "");

const DOORS: Readonly<Record<string, Door>> = {
  call: async (place, args, environment = {}) =>
    said(
      await handrail(place, ["call", "list_files", "--json", '{"path":"."}', "--workspace", place.workspace, ...args], {
        environment,
      }),
    ),
  "sessions create": async (place, args, environment = {}) =>
    said(await handrail(place, ["sessions", "create", "--workspace", place.workspace, ...args], { environment })),
  mcp: async (place, args) => {
    const client = startRpc(place, [...args]);
    client.process.stdin.end();
    return said({ code: await client.ended, stderr: client.stderr() });
  },
};

test.each(Object.keys(DOORS))(
  "%s refuses what the operator did not grant, and takes it once it is granted",
  async (name) => {
    const door = DOORS[name] as Door;
    const place = freshPlace();
    place.put("config/handrail.yaml", "preset: dev\n");
    expect(await door(place, ["--preset", "open"])).toMatch(
      /^the preset `open` allows more than `dev`, which the operator chose/,
    );
    expect(await door(place, ["--role", "sre"])).toMatch(/^the role `sre` is not granted to clients of /);
    expect(await door(place, ["--project", place.outside])).toMatch(
      /^the project root `\S+` must be a directory that holds /,
    );
    place.put(
      "config/handrail.yaml",
      `preset: dev\nworkspaces: [{ path: ${place.workspace}, roles: [dev, sre], preset: open }]\n`,
    );
    expect(await door(place, ["--preset", "open", "--role", "sre"])).toBe("open");
  },
  60_000,
);

test.each(["call", "sessions create"])(
  "%s takes it from whoever proves to be the operator, and from nobody else",
  async (name) => {
    const place = freshPlace();
    place.put("config/handrail.yaml", "preset: dev\n");
    const door = DOORS[name] as Door;
    const wider = ["--preset", "open", "--role", "sre", "--as-operator"];
    const admin = (await handrail(place, ["admin", "token"])).stdout.trim();
    for (const environment of [{}, { HANDRAIL_ADMIN_TOKEN: `${admin}x` }])
      expect(await door(place, wider, environment)).toMatch(
        /^--as-operator needs the admin credential in HANDRAIL_ADMIN_TOKEN/,
      );
    // The credential alone claims nothing: it may only have been inherited.
    expect(await door(place, ["--role", "sre"], { HANDRAIL_ADMIN_TOKEN: admin })).toMatch(/is not granted to clients/);
    expect(await door(place, wider, { HANDRAIL_ADMIN_TOKEN: admin })).toBe("open");
  },
  60_000,
);

test("the program that embeds the kernel is its operator, by `openSession` and not by an object that claims it", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", "preset: dev\n");
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: { HOME: place.home },
  });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: place.workspace, role: "sre", preset: "open" });
  expect(session.session).toMatchObject({ role: "sre", preset: "open" });
  const wish = { workspace: place.workspace, userId: "u", agentId: "a", role: "sre", operator: { proven: true } };
  await expect(kernel.administration.createSession(wish as never)).rejects.toMatchObject({ code: "USAGE" });
});

test("start makes its session as a client does", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", `workspaces: [{ path: ${place.workspace}, roles: [sre] }]\n`);
  const flags = ["--workspace", place.workspace, "--state", place.state, "--config", place.config];
  const { code, stderr } = await handrail(place, ["start", "--once", ...flags]);
  expect([code, stderr]).toEqual([64, expect.stringContaining("the role `dev` is not granted to clients")]);
});
