// migrate_config against what may go wrong: links, files that are not listed, others who write meanwhile, and the end
// of the machine's power.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import type { CallResponse } from "../../../../src/model/tool/call.ts";
import { approve, pending } from "../../../support/asking.ts";
import { FILE_V1, putFile, type SystemKernel, systemKernel } from "../../../support/system-kernel.ts";

const FILE = "config/gateway.yaml";
const BACKUP = "config/gateway.yaml.before-3.bak";
const FILE_V3 = "# the gateway\nschema: { version: 3 }\nlisten: {}\nhttp:\n  port: 80 # as ever\n  timeout: 30\n";

async function prepared(options: Parameters<typeof systemKernel>[0] = {}): Promise<SystemKernel> {
  const kernel = await systemKernel(options);
  mkdirSync(join(kernel.root, "config"));
  putFile(kernel, FILE, FILE_V1);
  return kernel;
}

const migrate = (kernel: SystemKernel, args: JsonObject = {}) =>
  kernel.call("migrate_config", { target_version: 3, ...args });

function said({ outcome }: CallResponse): readonly string[] {
  if (outcome.kind === "success") return ["success"];
  return outcome.kind === "denied" ? [outcome.denial.reason, outcome.denial.ruleId] : [outcome.code, outcome.message];
}

const inConfig = (kernel: SystemKernel) => readdirSync(join(kernel.root, "config")).sort();

describe("a migration", () => {
  test("goes through every version, keeps comments and what it does not name, and leaves a copy", async () => {
    const kernel = await prepared();
    const { outcome } = await migrate(kernel);
    expect(outcome).toMatchObject({
      kind: "success",
      data: { path: FILE, from_version: "1", versions: ["2", "3"], changed: true, backup: BACKUP },
    });
    expect(kernel.textOf(FILE)).toBe(FILE_V3);
    expect(kernel.textOf(BACKUP)).toBe(FILE_V1);
    expect(inConfig(kernel)).toEqual(["gateway.yaml", "gateway.yaml.before-3.bak"]);
  });

  test("of a file that is there already changes nothing and copies nothing; a dry run shows and changes nothing", async () => {
    const kernel = await prepared();
    const dry = await migrate(kernel, { dry_run: true });
    expect(dry.outcome).toMatchObject({ kind: "success", data: { changed: false, versions: ["2", "3"] } });
    expect(JSON.stringify(dry.outcome)).toContain("+  timeout: 30");
    expect([kernel.textOf(FILE), inConfig(kernel)]).toEqual([FILE_V1, ["gateway.yaml"]]);
    putFile(kernel, FILE, FILE_V3);
    expect((await migrate(kernel)).outcome).toMatchObject({ data: { changed: false, versions: [], diff: "" } });
    expect(inConfig(kernel)).toEqual(["gateway.yaml"]);
  });

  test.each([
    ["no way leads there", FILE_V1, { target_version: 9 }, /nothing leads to `9`/],
    ["it says no version", "listen: {}\n", {}, /does not say its version/],
    ["what is to be renamed would hit another", `${FILE_V1}http: { port: 1 }\n`, {}, /has `http.port` already/],
    ["it is no YAML", "a: [\n", {}, /not valid YAML/],
    ["it is no map", "- a\n", {}, /does not hold a map/],
    [
      "it uses aliases, which change together",
      "schema: { version: 1 }\nlisten: &x { port: 1 }\nother: *x\n",
      {},
      /uses aliases/,
    ],
    [
      "a parent is no map",
      "schema: { version: 1 }\nlisten: { port: 1 }\nhttp: text\n",
      {},
      /something else than members/,
    ],
  ])("changes nothing where %s", async (_why, text, args, problem) => {
    const kernel = await prepared();
    putFile(kernel, FILE, text);
    expect(said(await migrate(kernel, args))).toEqual(["NOT_SUPPORTED", expect.stringMatching(problem)]);
    expect([kernel.textOf(FILE), inConfig(kernel)]).toEqual([text, ["gateway.yaml"]]);
  });

  test("shows no secret of the file, and keeps it", async () => {
    const kernel = await prepared();
    const secret = `ghp_${"a1B2".repeat(9)}`;
    putFile(kernel, FILE, FILE_V1.replace("listen:", `token: ${secret}\nlisten:`));
    const answers = [await migrate(kernel, { dry_run: true }), await migrate(kernel)];
    expect(answers.map(({ outcome }) => outcome.kind)).toEqual(["success", "success"]);
    expect(JSON.stringify(answers)).toContain("token: "); // the line stands in the diff, without its value
    expect(JSON.stringify([answers, kernel.ledger.events])).not.toContain(secret.slice(4));
    expect([kernel.textOf(FILE), kernel.textOf(BACKUP)].every((text) => text.includes(secret))).toBe(true);
  });

  test("never writes over a copy of something else", async () => {
    const kernel = await prepared();
    putFile(kernel, BACKUP, "precious\n");
    expect(said(await migrate(kernel))[0]).toBe("FILE_EXISTS");
    expect([kernel.textOf(FILE), kernel.textOf(BACKUP)]).toEqual([FILE_V1, "precious\n"]);
  });
});

describe("a file that is not the listed one", () => {
  test.each([
    { config: "other" },
    { config: "../gateway" },
    { config: FILE },
    { path: "package.json" },
    { target_version: "../3" },
    { target_version: "3/x" },
  ])("cannot be named: %j", async (args) => {
    const kernel = await prepared();
    expect(said(await migrate(kernel, args as JsonObject))).toEqual(["tool_input_invalid", "SCHEMA:migrate_config"]);
  });

  test("is not reached by a link in the place of the listed one, nor by one in the place of its directory", async () => {
    const kernel = await systemKernel();
    mkdirSync(join(kernel.root, "config"));
    putFile(kernel, "victim.yaml", FILE_V1);
    symlinkSync("../victim.yaml", join(kernel.root, FILE));
    expect(said(await migrate(kernel))).toEqual(["workspace_symlink_escape", "WORKSPACE:exact"]);
    expect(said(await migrate(kernel, { dry_run: true }))).toEqual(["workspace_symlink_escape", "WORKSPACE:exact"]);

    const other = await systemKernel();
    mkdirSync(join(other.root, "elsewhere"));
    symlinkSync("elsewhere", join(other.root, "config"));
    putFile(other, "elsewhere/gateway.yaml", FILE_V1);
    expect(said(await migrate(other))).toEqual(["workspace_symlink_escape", "WORKSPACE:exact"]);
    expect([kernel.textOf("victim.yaml"), other.textOf("elsewhere/gateway.yaml")]).toEqual([FILE_V1, FILE_V1]);

    // the control: a tool that follows links writes through the same one
    expect((await kernel.call("write_file", { path: FILE, content: "changed\n" })).outcome.kind).toBe("success");
    expect(kernel.textOf("victim.yaml")).toBe("changed\n");
  });

  test("is not reached by a second name, by a link out of the workspace, or in a secret zone", async () => {
    const hard = await prepared();
    linkSync(join(hard.root, FILE), join(hard.root, "second.yaml"));
    expect(said(await migrate(hard))[0]).toBe("workspace_hard_link");
    expect(hard.textOf(FILE)).toBe(FILE_V1);

    const outside = await systemKernel();
    mkdirSync(join(outside.root, "config"));
    writeFileSync(join(outside.place.base, "gateway.yaml"), FILE_V1);
    symlinkSync(join(outside.place.base, "gateway.yaml"), join(outside.root, FILE));
    expect(said(await migrate(outside))[0]).toBe("workspace_symlink_escape");
    expect(readFileSync(join(outside.place.base, "gateway.yaml"), "utf8")).toBe(FILE_V1);

    const hidden = await prepared();
    await hidden.rezone({ secret: ["config/"] });
    expect(said(await migrate(hidden))).toEqual(["workspace_blocked_zone", "ZONE:secret"]);
  });
});

describe("somebody else who writes meanwhile", () => {
  /**
   * Lets somebody write when the call asks for the lock of its file: after it was read and copied, before it is
   * replaced.
   */
  function writingMeanwhile(kernel: SystemKernel, text: string): void {
    const { acquire } = kernel.locks;
    kernel.locks.acquire = async (request) => {
      if (existsSync(join(kernel.root, BACKUP))) putFile(kernel, FILE, text);
      return acquire(request);
    };
  }

  test("does not lose what they wrote", async () => {
    const kernel = await prepared();
    writingMeanwhile(kernel, `${FILE_V1}mine: 1\n`);
    expect(said(await migrate(kernel))[0]).toBe("FILE_CHANGED");
    expect(kernel.textOf(FILE)).toBe(`${FILE_V1}mine: 1\n`);
    // the control: a tool that only writes loses it
    const lossy = await prepared();
    lossy.locks.acquire = ((acquire) => async (request) => {
      putFile(lossy, FILE, `${FILE_V1}mine: 1\n`);
      return acquire(request);
    })(lossy.locks.acquire);
    expect((await lossy.call("write_file", { path: FILE, content: FILE_V3 })).outcome.kind).toBe("success");
    expect(lossy.textOf(FILE)).toBe(FILE_V3);
  });

  test("after a person approved makes the approval void", async () => {
    const kernel = await prepared({ preset: "dev", approvers: true });
    const running = migrate(kernel);
    const { ref, document } = await pending(kernel);
    expect(JSON.stringify(document)).toContain("+  timeout: 30"); // the person sees what would change
    putFile(kernel, FILE, `${FILE_V1}mine: 1\n`);
    await approve(kernel, ref);
    expect(said(await running)[0]).toBe("tool_approval_invalid");
    expect(kernel.textOf(FILE)).toBe(`${FILE_V1}mine: 1\n`);
  });
});

describe("the end of power", () => {
  const CHILD = new URL("../../../support/children/migrate-until.ts", import.meta.url).pathname;

  test.each([
    ["before the copy is in place", 1, ["gateway.yaml"]],
    ["between the copy and the file", 2, ["gateway.yaml", "gateway.yaml.before-3.bak"]],
  ])(
    "%s leaves the old file whole, and the same call brings it to an end later",
    async (_when, names, left) => {
      const kernel = await prepared();
      const child = spawnSync(process.execPath, [CHILD, kernel.root, String(names)], {
        encoding: "utf8",
        timeout: 120_000,
      });
      expect([child.signal, child.stderr]).toEqual(["SIGKILL", ""]);
      expect([kernel.textOf(FILE), inConfig(kernel).filter((name) => !name.startsWith(".handrail-new-"))]).toEqual([
        FILE_V1,
        left,
      ]);
      expect(said(await migrate(kernel))).toEqual(["success"]);
      expect([kernel.textOf(FILE), kernel.textOf(BACKUP)]).toEqual([FILE_V3, FILE_V1]);
    },
    90_000,
  );

  test("and without it the child migrates (the control)", async () => {
    const kernel = await prepared();
    execFileSync(process.execPath, [CHILD, kernel.root, "9"], { timeout: 120_000 });
    expect([kernel.textOf(FILE), kernel.textOf(BACKUP)]).toEqual([FILE_V3, FILE_V1]);
  });
});
