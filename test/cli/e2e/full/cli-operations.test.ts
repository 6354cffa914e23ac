/**
 * The command line as its operator meets it: setting up, sessions and leases, policy, evidence, and the wire's
 * validator.
 */
import { once } from "node:events";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { describe, expect, onTestFinished, test } from "vitest";
import { ToolRequestSchema } from "../../../../src/gen/handrail/tool/v1/tool_pb.ts";
import type { Lease } from "../../../../src/model/people/lease.ts";
import { openKernel } from "../../../../src/server/compose.ts";
import { encodeRequest } from "../../../../src/wire/protobuf.ts";
import {
  collect,
  dataIn,
  handrail,
  linesOf,
  oneJsonLine,
  startHandrail,
  until,
} from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

/** Runs a command that must work, and reads its one line of JSON. */
async function json<Shape = unknown>(place: Place, args: readonly string[]): Promise<Shape> {
  const { code, stdout, stderr } = await handrail(place, [...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return dataIn<Shape>(stdout);
}

type Shown = { readonly id: string; readonly token: string; readonly leaseId: string };

/** Exit code and deciding rule of a call under a session's token. */
async function callAs(place: Place, token: string, tool: string, args: object): Promise<readonly unknown[]> {
  const { code, stdout } = await handrail(place, ["call", tool, "--json", JSON.stringify(args), "--session", token]);
  const { error } = oneJsonLine<{ error?: { code: string } }>(stdout);
  return [code, error?.code];
}

describe("sessions", () => {
  test("are made with a token that is shown once, listed without it, and revoked for good", async () => {
    const place = freshPlace();
    const made = await json<Shown>(place, [
      "sessions",
      "create",
      "--workspace",
      place.workspace,
      "--agent",
      "one",
      "--lifetime",
      "1h",
    ]);
    expect(made).toMatchObject({
      role: "dev",
      preset: "dev",
      agentId: "one",
      serviceRoot: place.workspace,
      token: expect.any(String),
    });
    const listed = await json<Shown[]>(place, ["sessions", "list"]);
    expect(listed.map(({ id }) => id)).toEqual([made.id]);
    expect(JSON.stringify(listed)).not.toMatch(/token/i);
    expect(await callAs(place, made.token, "list_files", { path: "." })).toEqual([0, undefined]);
    await json(place, ["sessions", "revoke", made.id]);
    expect(await callAs(place, made.token, "list_files", { path: "." })).toEqual([2, "SESSION_REVOKED"]);
    const table = await handrail(place, ["sessions", "list"]);
    expect(linesOf(table.stdout)[1]).toMatch(new RegExp(`^${made.id}  revoked  - +dev +dev +default +one`));
    for (const file of ["state.db", "ledger.db"])
      expect(readFileSync(join(place.state, file)).includes(made.token)).toBe(false);
  });

  test("of a name that evidence or `kill --principal` would take for another one are not made", async () => {
    const place = freshPlace();
    const { code, stderr } = await handrail(place, [
      "sessions",
      "create",
      "--workspace",
      place.workspace,
      "--agent",
      "a\u0007b",
    ]);
    expect([code, stderr]).toEqual([64, expect.stringContaining("the agent's name cannot be used")]);
    const kernel = await openKernel({
      environment: { HANDRAIL_STATE_HOME: place.state, HANDRAIL_CONFIG_HOME: place.config },
    });
    onTestFinished(() => kernel.close());
    const made = (userId: string, agentId: string) =>
      kernel.administration.createSession({ workspace: place.workspace, userId, agentId }).then(
        () => "made",
        ({ message }: Error) => message.split(" cannot")[0],
      );
    const user = "the user's name";
    expect([
      await made("a/b", "c"),
      await made("operator:ann", "c"),
      await made("", "c"),
      await made("\ud800", "c"),
    ]).toEqual([user, user, user, user]);
    const agent = "the agent's name";
    expect([await made("a", ""), await made("a", "x".repeat(257))]).toEqual([agent, agent]);
    expect([await made("a", "b/c"), await made("operator", "x".repeat(256))]).toEqual(["made", "made"]);
  });

  test("that do not exist are not revoked", async () => {
    const { code, stderr } = await handrail(freshPlace(), ["sessions", "revoke", "ses_none"]);
    expect([code, stderr]).toEqual([
      64,
      "handrail: there is no session `ses_none`; `handrail sessions list` shows them\n",
    ]);
  });
});

describe("leases", () => {
  test("narrow when derived, and end the sessions of their children when released", async () => {
    const place = freshPlace();
    place.put("workspace/docs/a.md", "a\n");
    place.put("workspace/src/a.ts", "a\n");
    const parent = await json<Shown>(place, [
      "sessions",
      "create",
      "--workspace",
      place.workspace,
      "--read",
      "docs/**",
      "--tools",
      "read_file",
      "list_files",
    ]);
    const [child] = await json<Lease[]>(place, [
      "leases",
      "derive",
      parent.leaseId,
      "--lifetime",
      "1h",
      "--read",
      "**",
      "--tools",
      "read_file",
      "write_file",
    ]);
    expect(child).toMatchObject({ parentId: parent.leaseId, scope: { readPaths: [["docs/**"], ["**"]] } });
    const worker = await json<Shown>(place, [
      "sessions",
      "create",
      "--workspace",
      place.workspace,
      "--lease",
      child?.id ?? "",
    ]);
    const answers = await Promise.all([
      callAs(place, worker.token, "read_file", { path: "docs/a.md" }),
      callAs(place, worker.token, "read_file", { path: "src/a.ts" }),
      callAs(place, worker.token, "list_files", { path: "docs" }),
      callAs(place, worker.token, "write_file", { path: "docs/b.md", content: "" }),
    ]);
    expect(answers).toEqual([
      [0, undefined],
      [2, "LEASE_SCOPE"],
      [2, "LEASE_SCOPE"],
      [2, "LEASE_SCOPE"],
    ]);
    await json(place, ["leases", "release", parent.leaseId]);
    expect(await callAs(place, worker.token, "read_file", { path: "docs/a.md" })).toEqual([2, "LEASE_EXPIRED"]);
    const renewed = await handrail(place, ["leases", "renew", parent.leaseId, "--lifetime", "1h"]);
    expect([renewed.code, renewed.stderr]).toEqual([64, expect.stringContaining("was released; make a new one")]);
    expect(linesOf((await handrail(place, ["leases", "list"])).stdout)[2]).toMatch(
      new RegExp(`^${parent.leaseId}  released`),
    );
  });

  test("are narrowed for a session that is made under one with limits of its own", async () => {
    const place = freshPlace();
    place.put("workspace/docs/a.md", "a\n");
    place.put("workspace/src/a.ts", "a\n");
    const create = ["sessions", "create", "--workspace", place.workspace];
    const parent = await json<Shown>(place, [...create, "--tools", "read_file", "list_files"]);
    const plain = await json<Shown>(place, [...create, "--lease", parent.leaseId]);
    const narrowed = await json<Shown>(place, [
      ...create,
      "--lease",
      parent.leaseId,
      "--read",
      "docs/**",
      "--tools",
      "read_file",
      "write_file",
    ]);
    expect(plain.leaseId).toBe(parent.leaseId);
    const lease = (await json<Lease[]>(place, ["leases", "list"])).find(({ id }) => id === narrowed.leaseId);
    expect(lease).toMatchObject({ parentId: parent.leaseId });
    const answers = await Promise.all([
      callAs(place, plain.token, "read_file", { path: "src/a.ts" }),
      callAs(place, narrowed.token, "read_file", { path: "docs/a.md" }),
      callAs(place, narrowed.token, "read_file", { path: "src/a.ts" }),
      callAs(place, narrowed.token, "write_file", { path: "b", content: "" }),
    ]);
    expect(answers).toEqual([
      [0, undefined],
      [0, undefined],
      [2, "LEASE_SCOPE"],
      [2, "LEASE_SCOPE"],
    ]);
  });

  test("tell a project's shared files from a service's own", async () => {
    const place = freshPlace();
    place.put("workspace/shared/a.md", "the service's\n");
    place.put("shared/a.md", "the project's\n");
    const create = ["sessions", "create", "--workspace", place.workspace, "--project", place.base];
    const inService = await json<Shown>(place, [...create, "--read", "shared/**"]);
    const inProject = await json<Shown>(place, [...create, "--read", "@project/shared/**"]);
    const [own, shared] = [{ path: "shared/a.md" }, { path: join(place.base, "shared/a.md") }];
    const read = (token: string) => Promise.all([own, shared].map((args) => callAs(place, token, "read_file", args)));
    expect(await read(inService.token)).toEqual([
      [0, undefined],
      [2, "LEASE_SCOPE"],
    ]);
    expect(await read(inProject.token)).toEqual([
      [2, "LEASE_SCOPE"],
      [0, undefined],
    ]);
    const listed = await Promise.all(
      [inService, inProject].map(({ token }) =>
        handrail(place, [
          "call",
          "list_files",
          "--json",
          JSON.stringify(shared).replace("/a.md", ""),
          "--session",
          token,
        ]),
      ),
    );
    expect(
      listed.map(({ code, stdout }) => [code, oneJsonLine<{ data?: { entries: object[] } }>(stdout).data?.entries]),
    ).toEqual([
      [2, undefined],
      [0, [expect.objectContaining({ path: "a.md" })]],
    ]);
  });

  test("are renewed, a derived one at most to its parent's end", async () => {
    const place = freshPlace();
    const { leaseId } = await json<Shown>(place, [
      "sessions",
      "create",
      "--workspace",
      place.workspace,
      "--lifetime",
      "1h",
    ]);
    const [child] = await json<Lease[]>(place, ["leases", "derive", leaseId, "--lifetime", "30m"]);
    const [extended] = await json<Lease[]>(place, ["leases", "renew", child?.id ?? "", "--lifetime", "10h"]);
    const parent = (await json<Lease[]>(place, ["leases", "list"])).find(({ id }) => id === leaseId);
    expect(extended?.expiresAtMs).toBe(parent?.expiresAtMs);
    const [later] = await json<Lease[]>(place, ["leases", "renew", leaseId, "--lifetime", "2h"]);
    expect(later?.expiresAtMs).toBeGreaterThan(parent?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    expect((await handrail(place, ["leases", "renew", leaseId, "--lifetime", "99d"])).stderr).toContain("thirty days");
  });
});

describe("policy", () => {
  const FORBID =
    '@id("own.no-docs")\n@message("leave the documents alone")\nforbid (principal, action, resource is Handrail::File)\nwhen { resource.path like "docs/*" };\n';

  test("check accepts the shipped and the operator's files, and names file and line of a fault", async () => {
    const place = freshPlace();
    const good = await json<{ ok: boolean; presets: { preset: string; ok: boolean }[] }>(place, ["policy", "check"]);
    expect(good.presets.map(({ preset, ok }) => [preset, ok])).toEqual(
      ["reader", "dev", "autonomous", "meao", "brio", "open"].map((name) => [name, true]),
    );
    place.put("config/policy/own.cedar", "forbid (principal, action, resource)\nwhen { resource.nonsense == 1 };\n");
    const bad = await handrail(place, ["policy", "check", "--preset", "dev"]);
    expect([bad.code, bad.stdout]).toEqual([
      1,
      expect.stringMatching(/^policy\/own\.cedar:\d+:\d+: .+\n[\s\S]*^dev: not valid$/m),
    ]);
  });

  test("that is not valid refuses every call and says how to find out why", async () => {
    const place = freshPlace();
    place.put("config/policy/own.cedar", "permit (principal");
    const { code, stdout } = await handrail(place, ["call", "list_files", "--json", '{"path":"."}']);
    expect([code, oneJsonLine(stdout)]).toEqual([
      2,
      expect.objectContaining({
        error: expect.objectContaining({
          code: "TOOL_POLICY_INVALID",
          layer: "gates",
          rule_id: "CONFIG:policy_invalid",
          message: "the operator's policy is not valid, so nothing is allowed; ask the operator to correct it",
          fix: "the operator runs `handrail policy check` and corrects what it names",
        }),
      }),
    ]);
  });

  test("explain names the deciding rule without doing anything, and the narrowest permit that would allow a call", async () => {
    const place = freshPlace();
    place.put("config/policy/own.cedar", FORBID);
    const explain = (path: string, ...more: string[]) =>
      handrail(place, [
        "policy",
        "explain",
        "write_file",
        "--arguments",
        JSON.stringify({ path, content: "" }),
        ...more,
      ]);
    const allowed = await explain("a.txt");
    expect([allowed.code, linesOf(allowed.stdout).slice(0, 2)]).toEqual([
      0,
      ["write_file would run", "write_file write a.txt: allow by dev.write-own"],
    ]);
    const forbidden = await explain("docs/a.md");
    expect([forbidden.code, linesOf(forbidden.stdout).slice(0, 3)]).toEqual([
      2,
      [
        "write_file would be denied by own.no-docs",
        "write_file write docs/a.md: deny by own.no-docs",
        "  leave the documents alone",
      ],
    ]);
    const reader = await explain("a.txt", "--preset", "reader");
    expect([reader.code, reader.stdout]).toEqual([
      2,
      expect.stringMatching(/deny by DEFAULT_DENY[\s\S]*narrowest change[\s\S]*permit/),
    ]);
    const asked = await explain("CLAUDE.md");
    expect([asked.code, asked.stdout]).toEqual([2, expect.stringContaining("needs ask by dev.write-protected")]);
    expect(statSync(join(place.workspace, "a.txt"), { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe("the ledger", () => {
  test("is shown, verified, and a changed byte is found and its entry named", async () => {
    const place = freshPlace();
    await handrail(place, ["call", "write_file", "--json", '{"path":"a.txt","content":"a"}']);
    const tail = await handrail(place, ["ledger", "tail", "-n", "8"]);
    expect(linesOf(tail.stdout).map((line) => line.trim().split(/\s+/).slice(2, 4).join(" "))).toEqual([
      "tool_selected write_file",
      "tool_call_written write_file",
      "mark_raised write_file",
      "tool_executed write_file",
      "tool_output_written write_file",
      "session_revoked",
      "lease_released",
      "kernel_stopped",
    ]);
    const newest = await handrail(place, ["ledger", "tail", "-n", "5", "--json"]);
    const [last] = dataIn<{ sequence: number }[]>(newest.stdout);
    const shown = await json<object>(place, ["ledger", "show", String(last?.sequence)]);
    expect(shown).toMatchObject({
      eventType: "tool_executed",
      closes: (last?.sequence ?? 0) - 3,
      payload: { tool: "write_file", success: true },
    });
    expect((await handrail(place, ["ledger", "show", "999"])).stderr).toMatch(
      /^handrail: there is no entry 999; the ledger ends at \d+\n$/,
    );
    const intact = await handrail(place, ["ledger", "verify"]);
    expect([intact.code, intact.stdout]).toEqual([0, expect.stringMatching(/^the ledger is intact: \d+ entries\n$/)]);
    await changeOneByte(place, last?.sequence ?? 0);
    const damaged = await handrail(place, ["ledger", "verify"]);
    expect([damaged.code, damaged.stdout]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^entry ${last?.sequence}: .+\n[\\s\\S]*the ledger is damaged: `)),
    ]);
    const report = await handrail(place, ["ledger", "verify", "--json"]);
    expect([report.code, dataIn(report.stdout)]).toEqual([1, expect.objectContaining({ ok: false })]);
  });

  test("of a state directory that does not exist is not made by looking at it", async () => {
    const place = freshPlace();
    const { code, stderr } = await handrail(place, ["ledger", "verify"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("there is no state directory")]);
    expect(statSync(place.state, { throwIfNoEntry: false })).toBeUndefined();
  });
});

/** Changes one byte of a recorded payload, as somebody with the file could. */
async function changeOneByte(place: Place, sequence: number): Promise<void> {
  const { default: Database } = await import("better-sqlite3");
  const database = new Database(join(place.state, "ledger.db"));
  const changed = database
    .prepare("UPDATE payloads SET payload = CAST(replace(payload, 'write_file', 'write_fire') AS BLOB) WHERE seq = ?")
    .run(sequence);
  database.close();
  expect(changed.changes).toBe(1);
}

describe("setting up", () => {
  test("init makes both directories for their owner alone, and never overwrites", async () => {
    const place = freshPlace();
    const config = join(place.base, "new/config");
    const environment = { HANDRAIL_CONFIG_HOME: config };
    const first = await handrail(place, ["init", "--json"], { environment });
    expect(dataIn(first.stdout)).toEqual({
      config,
      state: place.state,
      settings: join(config, "handrail.yaml"),
      made: [config, join(config, "policy"), place.state, join(config, "handrail.yaml")],
    });
    for (const directory of [config, join(config, "policy"), place.state])
      expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(config, "handrail.yaml")).mode & 0o777).toBe(0o600);
    place.put("new/config/handrail.yaml", "preset: reader\n");
    const second = await handrail(place, ["init"], { environment });
    expect([second.code, linesOf(second.stdout)[0]]).toEqual([0, "everything is there already"]);
    expect(readFileSync(join(config, "handrail.yaml"), "utf8")).toBe("preset: reader\n");
    const call = await handrail(place, ["call", "write_file", "--json", '{"path":"a","content":""}'], { environment });
    expect([call.code, oneJsonLine(call.stdout)]).toEqual([
      2,
      expect.objectContaining({ error: expect.objectContaining({ layer: "policy" }) }),
    ]);
  });

  test("what init writes is valid, and doctor finds everything in order", async () => {
    const place = freshPlace();
    await handrail(place, ["init"]);
    const findings = await json<{ check: string; status: string }[]>(place, ["doctor"]);
    expect(findings.map(({ check, status }) => [check, status])).toEqual([
      ["node", "ok"],
      ["operating system", "ok"],
      ["contained file access", "ok"],
      ["operator directory", "ok"],
      ["policies", "ok"],
      ["installation", "ok"],
      ["sandbox", "ok"],
      ["sandbox backends", "ok"],
      ["components", "ok"],
      ["capabilities", "ok"],
      ["trusted workspaces", "ok"],
      ["stores of the state", "ok"],
      ["ledger and state", "ok"],
      ["arming", "ok"],
      ["kernel's thread", "ok"],
      ["boundary", "advisory"],
    ]);
  });

  test("doctor names credentials and authorities of git that cannot be used, each with what to do, and what is opened", async () => {
    const place = freshPlace();
    const credential = (host: string, password: object) => ({ host, username: "bot", password });
    const open = place.put("kept/open", "a-good-password\n");
    chmodSync(open, 0o644);
    const git = {
      credentials: [
        credential("a.example", { file: "/nowhere/password" }),
        credential("b.example", { file: open }),
        credential("c.example", { env: "NO_SUCH_VARIABLE" }),
      ],
      certificate_authorities: place.put("kept/ca.pem", "no certificate\n"),
      private_hosts: ["git.corp:8443"],
    };
    place.put("config/handrail.yaml", JSON.stringify({ git }));
    const found = async () => {
      const { code, stdout } = await handrail(place, ["doctor", "--json"]);
      const findings = dataIn<{ check: string; status: string; detail: string; fix?: string }[]>(stdout);
      return [code, findings.filter(({ check }) => check === "git remotes")] as const;
    };
    const [code, failed] = await found();
    expect([code, failed.map(({ status, detail, fix }) => [status, `${detail}; ${fix}`])]).toEqual([
      1,
      [
        "`/nowhere/password` cannot be read (ENOENT); write it, or correct its name",
        `\`${open}\` can be read by others; run \`chmod go= ${open}\``,
        "the variable `NO_SUCH_VARIABLE`, named under `git.credentials`, holds no password of 6 or more characters in one line; set it",
        "holds no certificates; put the authorities' certificates there",
      ].map((part) => ["failed", expect.stringContaining(part)]),
    ]);
    expect(JSON.stringify(failed)).not.toContain("a-good-password");
    chmodSync(open, 0o600);
    place.put(
      "config/handrail.yaml",
      JSON.stringify({ git: { credentials: [git.credentials[1]], private_hosts: git.private_hosts } }),
    );
    expect(await found()).toEqual([
      0,
      [
        {
          check: "git remotes",
          status: "advisory",
          detail: expect.stringMatching(
            /^1 credential can be read; .*git may reach `git\.corp:8443` at private addresses$/,
          ),
          fix: expect.stringContaining("git.private_hosts"),
        },
      ],
    ]);
  });

  test("every command says where a mistake in handrail.yaml stands, and what was probably meant", async () => {
    const place = freshPlace();
    const file = place.put("config/handrail.yaml", "files:\n  secrt: [a]\nsandbx: {}\n");
    const { code, stderr } = await handrail(place, ["call", "list_files"]);
    expect([code, linesOf(stderr).slice(-3)]).toEqual([
      1,
      [
        expect.stringMatching(
          /files: unrecognized key: "secrt"; did you mean `secret`\?; file: unrecognized key: "sandbx"; did you mean `sandbox`\?$/,
        ),
        `  ${file}:2:3: secrt: [a]`,
        `  ${file}:3:1: sandbx: {}`,
      ],
    ]);
  });

  test("secrets are added, shown without their values, checked, and removed", async () => {
    const place = freshPlace();
    place.put("config/handrail.yaml", "# mine\npreset: dev\n");
    const key = place.put("config/key", "value-of-the-key-1\n");
    const add = ["secrets", "add", "API_KEY", "--from", `file:${key}`, "--to", "api.example", "--in", "basic"];
    const made = await json<{ placeholder: string }>(place, add);
    expect(made).toMatchObject({ name: "API_KEY", bindings: [{ host: "api.example", port: 443 }] });
    await json(place, ["secrets", "add", "API_KEY", "--to", "b.example:8443", "--in", "query key", "--method", "get"]);
    const [shown] = await json<{ bindings: unknown[]; placeholder: string }[]>(place, ["secrets", "ls"]);
    expect([shown?.bindings.length, shown?.placeholder]).toEqual([2, made.placeholder]);
    expect(await json(place, ["secrets", "check"])).toMatchObject([{ name: "API_KEY" }]);
    expect((await handrail(place, ["doctor"])).stdout).toMatch(/^ok +secrets +API_KEY: each value can be read/m);
    writeFileSync(key, "value-of-the-key-2\n");
    expect(await json<object>(place, ["secrets", "rotate", "API_KEY"])).toMatchObject({
      placeholder: made.placeholder,
    });
    chmodSync(key, 0o644);
    const checked = await handrail(place, ["secrets", "check"]);
    expect([checked.code, checked.stdout]).toEqual([
      1,
      expect.stringMatching(/^failed +API_KEY +.*can be read by others/),
    ]);
    const again = await handrail(place, add);
    expect([again.code, again.stderr]).toEqual([64, expect.stringContaining("leave `--from` out")]);
    await json(place, ["secrets", "rm", "API_KEY"]);
    expect(readFileSync(join(place.config, "handrail.yaml"), "utf8")).toBe("# mine\npreset: dev\n");
    const types = (await readEvidence(place.state))
      .map(({ entry }) => entry.eventType)
      .filter((type) => type.startsWith("secret_"));
    expect(types).toEqual(["secret_added", "secret_added", "secret_rotated", "secret_removed"]);
    for (const file of ["state.db", "ledger.db"])
      expect(readFileSync(join(place.state, file)).includes("value-of-the-key")).toBe(false);
  }, 120_000);

  test("two secrets that are added at once are both there, or one of them says that it is not", async () => {
    const place = freshPlace();
    await handrail(place, ["init"]);
    const add = (name: string) =>
      handrail(place, ["secrets", "add", name, "--from", "env:HOME", "--to", "a.example", "--in", "basic"]);
    const codes = (await Promise.all(["KEY_A", "KEY_B", "KEY_C"].map(add))).map(({ code }) => code);
    const { length } = await json<unknown[]>(place, ["secrets", "ls"]);
    expect(codes.filter((code) => code === 0)).toHaveLength(length);
    expect(length).toBeGreaterThan(0);
  }, 120_000);

  test("serve says at once that every call will be refused, where a policy is not valid", async () => {
    const place = freshPlace();
    place.put("config/policy/own.cedar", "permit(\n");
    const child = startHandrail(place, ["serve", "--socket", join(place.base, "s")]);
    const output = collect(child);
    await until(() => output().stderr.includes("every call will be refused: the policies are not valid"));
    expect(output().stderr).toContain("policy/own.cedar:1:8: ");
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([0, null]);
  }, 60_000);

  test("doctor says what is wrong in a row for each mistake, with its place and what mends it, and ends with 1", async () => {
    const place = freshPlace();
    const file = place.put(
      "config/handrail.yaml",
      "presets: dev\nalert:\n  freeze: true\n  violations_per_minute: no\n",
    );
    const { code, stdout } = await handrail(place, ["doctor"]);
    const lines = linesOf(stdout);
    const at = lines.findIndex((line) => line.startsWith("failed"));
    expect([code, lines.slice(at, at + 6)]).toEqual([
      1,
      [
        expect.stringMatching(/^failed +operator directory +.*handrail\.yaml:4:3: alert\.violations_per_minute: /),
        expect.stringMatching(/^ +\| violations_per_minute: no$/),
        expect.stringMatching(/^ +fix: correct it there; .*configuration\.md/),
        expect.stringMatching(/^failed +operator directory +.*handrail\.yaml:1:1: file: unrecognized key: "presets"$/),
        expect.stringMatching(/^ +\| presets: dev$/),
        expect.stringMatching(/^ +fix: /),
      ],
    ]);
    const findings = async () => {
      const { stdout } = await handrail(place, ["doctor", "--json"]);
      return dataIn<{ check: string; status: string }[]>(stdout).filter(({ status }) => status !== "ok");
    };
    writeFileSync(file, "preset: dev\nfiles: [\n");
    const [broken, ...others] = await findings();
    expect(broken).toMatchObject({ check: "operator directory", status: "failed", file, line: 3, column: 1 });
    expect(others.map(({ check, status }) => [check, status])).toEqual([
      ...["policies", "sandbox", "components", "capabilities", "trusted workspaces", "ledger and state"].map((one) => [
        one,
        "skipped",
      ]),
      ["boundary", "advisory"],
    ]);
    writeFileSync(file, 'tools: { disabled: ["read_fil"] }\n');
    expect((await findings())[0]).toMatchObject({
      status: "failed",
      detail: expect.stringContaining("read_fil"),
      fix: "correct the spelling",
    });
    writeFileSync(file, "");
    const policy = place.put("config/policy/own.cedar", '@id("own.a")\npermit (principal, action, resourc);\n');
    expect(await findings()).toEqual([
      expect.objectContaining({
        check: "policies",
        status: "failed",
        file: policy,
        line: 2,
        column: 28,
        snippet: "permit (principal, action, resourc);",
        fix: expect.stringContaining("handrail policy check"),
      }),
      expect.objectContaining({ check: "boundary" }),
    ]);
  });

  test("doctor shows no line that holds a secret", async () => {
    const place = freshPlace();
    const key = `ghp_${"aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3"}`;
    place.put("config/handrail.yaml", `preset: dev\ntokens: ${key}\n`);
    const { stdout } = await handrail(place, ["doctor"]);
    expect(stdout).not.toContain(key);
    expect(stdout).toMatch(/handrail\.yaml:2:1: .*"tokens"\n +\| \(hidden: the line holds a secret\)/);
  });
});

describe("wire validate of bytes that are not UTF-8", () => {
  const one = (id: string) => `{"requestId":"${id}","sessionToken":"s","fileRead":{"path":"a.txt"}}`;
  const bad = Buffer.from(one("caf\xe9"), "latin1");
  const refused = { valid: false, violations: [{ field: "", rule: "decode", message: "the request is not UTF-8" }] };

  test("refuses one request, and of several lines only the bad one", async () => {
    const place = freshPlace();
    const alone = await handrail(place, ["wire", "validate", "--input", "json", "--json"], { input: bad });
    expect([alone.code, dataIn(alone.stdout)]).toEqual([1, refused]);
    const lines = Buffer.concat([Buffer.from(`${one("r")}\n`), bad, Buffer.from(`\n${one("caf\xe9")}`)]);
    const { stdout } = await handrail(place, ["wire", "validate", "--input", "lines", "--json"], { input: lines });
    expect(linesOf(stdout).map((line) => JSON.parse(line).data)).toEqual([
      { valid: true, violations: [] },
      refused,
      { valid: true, violations: [] },
    ]);
  });
});

describe("wire validate", () => {
  const request = (path: string) =>
    create(ToolRequestSchema, { requestId: "r", sessionToken: "s", tool: { case: "fileRead", value: { path } } });
  const validate = (place: Place, input: string | Uint8Array, ...more: string[]) =>
    handrail(place, ["wire", "validate", "--json", ...more], { input });

  test("judges encoded requests, one as JSON, and one a line", async () => {
    const place = freshPlace();
    const good = await validate(place, encodeRequest(request("a.txt")));
    expect([good.code, dataIn(good.stdout)]).toEqual([0, { valid: true, violations: [] }]);
    const bad = await validate(place, encodeRequest(request("../a.txt")));
    expect([bad.code, dataIn(bad.stdout)]).toEqual([
      1,
      {
        valid: false,
        violations: [{ field: "file_read.path", rule: "no_path_traversal", message: expect.any(String) }],
      },
    ]);
    const garbage = await validate(place, Buffer.from([0xff, 0xff, 0xff]));
    expect([garbage.code, dataIn(garbage.stdout)]).toEqual([1, expect.objectContaining({ valid: false })]);
    const one = '{"requestId":"r","sessionToken":"s","fileRead":{"path":"a.txt"}}';
    expect((await validate(place, one, "--input", "json")).code).toBe(0);
    const lines = await validate(place, `${one}\n\n{"requestId":""}\nnonsense\n`, "--input", "lines");
    expect(linesOf(lines.stdout).map((line) => (JSON.parse(line) as { data: { valid: boolean } }).data.valid)).toEqual([
      true,
      false,
      false,
    ]);
    expect(lines.code).toBe(1);
    expect(statSync(place.state, { throwIfNoEntry: false })).toBeUndefined();
  });
});
