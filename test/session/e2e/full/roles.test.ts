/** Roles at the command line: which are defined, who may ask for them, and what becomes of those that are not. */
import { existsSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dataIn, handrail, oneJsonLine } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

async function json<Shape = unknown>(place: Place, args: readonly string[]): Promise<Shape> {
  const { code, stdout, stderr } = await handrail(place, [...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return dataIn<Shape>(stdout);
}

/** Whether a client of the workspace may have the role, or why not: an agent's client starts `handrail mcp`. */
async function mayAsk(place: Place, role: string): Promise<string> {
  const { code, stderr } = await handrail(place, ["mcp", "--workspace", place.workspace, "--role", role]);
  return code === 0 ? "yes" : (stderr.replace(/^handrail: /, "").split(";")[0] ?? "");
}

const events = async (place: Place, type: string) =>
  (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === type).map(({ payload }) => payload);

describe("grants", () => {
  test("let clients ask for a role, keep the file's comments, are recorded, and are taken back", async () => {
    const place = freshPlace();
    const file = place.put("config/handrail.yaml", `# ours\nworkspaces:\n  - path: ${place.workspace} # the shop\n`);
    expect(await mayAsk(place, "sre")).toBe(`the role \`sre\` is not granted to clients of \`${place.workspace}\``);
    expect(await json(place, ["roles", "grant", "sre", "--workspace", place.workspace])).toEqual({
      workspace: place.workspace,
      roles: ["dev", "sre"],
      changed: true,
      added: false,
    });
    expect(readFileSync(file, "utf8")).toBe(
      `# ours\nworkspaces:\n  - path: ${place.workspace} # the shop\n    roles: [dev, sre]\n`,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await mayAsk(place, "sre")).toBe("yes");
    expect(await json(place, ["roles", "list"])).toEqual({
      defined: ["dev", "sre", "release_manager", "product_owner"],
      otherwise: ["dev"],
      grants: [{ workspace: place.workspace, roles: ["dev", "sre"] }],
    });
    await json(place, ["roles", "revoke", "sre", "--workspace", place.workspace]);
    expect(await mayAsk(place, "sre")).toBe(`the role \`sre\` is not granted to clients of \`${place.workspace}\``);
    const common = { role: "sre", workspace: place.workspace, by: expect.any(String), severity: "warning" };
    expect(await events(place, "role_granted")).toEqual([{ ...common, roles: ["dev", "sre"] }]);
    expect(await events(place, "role_revoked")).toEqual([{ ...common, roles: ["dev"] }]);
  });

  test("of a role twice change nothing; of one that is not defined, and revocations of one that is not granted, fail", async () => {
    const place = freshPlace();
    const file = place.put("config/handrail.yaml", `workspaces:\n  - path: ${place.workspace}\n`);
    expect(await json(place, ["roles", "grant", "dev", "--workspace", place.workspace])).toMatchObject({
      changed: false,
    });
    const undefinedRole = await handrail(place, ["roles", "grant", "ghost", "--workspace", place.workspace]);
    expect([undefinedRole.code, undefinedRole.stderr]).toEqual([
      64,
      expect.stringContaining("the role `ghost` is not defined"),
    ]);
    const notGranted = await handrail(place, ["roles", "revoke", "sre", "--workspace", place.workspace]);
    expect([notGranted.code, notGranted.stderr]).toEqual([
      64,
      expect.stringContaining("the role `sre` is not granted there"),
    ]);
    expect(readFileSync(file, "utf8")).toBe(`workspaces:\n  - path: ${place.workspace}\n`);
    expect([await events(place, "role_granted"), existsSync(`${file}.new`)]).toEqual([[], false]);
  });

  test("make an entry for a workspace that has none, where there is no file and behind a link", async () => {
    const place = freshPlace();
    await json(place, ["roles", "grant", "sre", "--workspace", place.workspace]);
    expect(readFileSync(join(place.config, "handrail.yaml"), "utf8")).toBe(
      `workspaces:\n  - path: ${place.workspace}\n    roles: [dev, sre]\n`,
    );
    const linked = freshPlace();
    const real = linked.put("home/settings.yaml", "preset: dev\n");
    symlinkSync(real, join(linked.config, "handrail.yaml"));
    await json(linked, ["roles", "grant", "sre", "--workspace", linked.workspace]);
    expect(readFileSync(real, "utf8")).toBe(
      `preset: dev\nworkspaces:\n  - path: ${linked.workspace}\n    roles: [dev, sre]\n`,
    );
  });

  test("do not go together: whoever is second is told", async () => {
    const place = freshPlace();
    place.put("config/handrail.yaml.new", "");
    const { code, stderr } = await handrail(place, ["roles", "grant", "sre", "--workspace", place.workspace]);
    expect([code, stderr]).toEqual([64, expect.stringContaining("somebody changes the settings right now")]);
    expect(existsSync(join(place.config, "handrail.yaml"))).toBe(false);
  });
});

describe("a role of the operator's own", () => {
  const POLICY = `@id("own.auditor")\n@message("auditors read")\npermit (principal in Handrail::Role::"auditor", action in Handrail::Action::"read", resource is Handrail::File)\nwhen { context.effect == "read" && resource.zone == "own" };\n`;

  test("is used in policies and sessions; without its definition both are refused", async () => {
    const place = freshPlace();
    place.put("config/policy/own.cedar", POLICY);
    const refused = await handrail(place, ["policy", "check"]);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("auditor")]);
    expect(await mayAsk(place, "auditor")).toBe("the role `auditor` is not defined");
    place.put(
      "config/handrail.yaml",
      `roles: [dev, auditor]\nworkspaces:\n  - path: ${place.workspace}\n    roles: [auditor]\n`,
    );
    place.put("workspace/a.txt", "a\n");
    expect((await handrail(place, ["policy", "check"])).code).toBe(0);
    const session = await json<{ token: string }>(place, [
      "sessions",
      "create",
      "--role",
      "auditor",
      "--workspace",
      place.workspace,
    ]);
    const call = async (tool: string, args: object) => {
      const { stdout } = await handrail(place, [
        "call",
        tool,
        "--json",
        JSON.stringify(args),
        "--session",
        session.token,
      ]);
      const { status, error } = oneJsonLine<{ status: string; error?: { code: string } }>(stdout);
      return error?.code ?? status;
    };
    expect(await call("read_file", { path: "a.txt" })).toBe("success");
    expect(await call("write_file", { path: "b.txt", content: "b" })).toBe("FILE_WRITE_DENIED");
    // The role goes; the session stays, and is refused everything.
    place.put("config/policy/own.cedar", "");
    place.put("config/handrail.yaml", "roles: [dev]\n");
    expect(await call("read_file", { path: "a.txt" })).toBe("TOOL_POLICY_INVALID");
    expect(await mayAsk(place, "auditor")).toBe("the role `auditor` is not defined");
  });

  test("that a workspace grants and nobody defined refuses the whole configuration", async () => {
    const place = freshPlace();
    place.put("config/handrail.yaml", `workspaces:\n  - path: ${place.workspace}\n    roles: [ghost]\n`);
    const { code, stderr } = await handrail(place, [
      "call",
      "list_files",
      "--json",
      '{"path":"."}',
      "--workspace",
      place.workspace,
    ]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("workspaces.0.roles.0: the role `ghost` is not defined; add it to `roles`"),
    ]);
  });
});
