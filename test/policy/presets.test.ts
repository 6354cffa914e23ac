/** The shipped presets: the whole matrix of role, zone and effect, and the rules of the roles. */

import { beforeAll, describe, expect, test } from "vitest";
import type { EffectClass } from "../../src/model/outcome/effect.ts";
import { isPresetName, PRESET_NAMES, type PresetName } from "../../src/model/people/preset.ts";
import { commandOf } from "../../src/model/place/command.ts";
import type { Zone } from "../../src/model/place/zone.ts";
import { checkPolicies } from "../../src/policy/check.ts";
import type { PolicyEngine, PolicyResource } from "../../src/policy/policy.ts";
import {
  ACTIONS,
  engineOf,
  file,
  operator,
  presetSources,
  type RequestParts,
  ROLES,
  request,
} from "../support/policy-fixtures.ts";

const engines = new Map<PresetName, PolicyEngine>();
beforeAll(async () => {
  for (const name of PRESET_NAMES) engines.set(name, await engineOf(presetSources(name)));
});

/** `-` for a denial, otherwise the obligations, or `ok` when there are none. */
function answer(preset: PresetName, parts: RequestParts): string {
  const verdict = engines.get(preset)?.evaluate(request(parts));
  if (verdict?.decision !== "allow") return "-";
  return verdict.obligations.length === 0
    ? "ok"
    : [...new Set(verdict.obligations.map((due) => due.obligation))].sort().join("+");
}

function denial(preset: PresetName, parts: RequestParts): string | undefined {
  const verdict = engines.get(preset)?.evaluate(request(parts));
  return verdict?.decision === "deny" ? verdict.ruleId : undefined;
}

const ZONES: readonly Zone[] = ["own", "protected", "shared", "managed", "secret"];
const CELLS: readonly (readonly [action: string, effect: EffectClass])[] = [
  ["read_file", "read"],
  ["edit_file", "read"],
  ["edit_file", "write"],
  ["delete_file", "write"],
  ["run_test", "exec"],
  ["shell", "write"],
  ["web_fetch", "network"],
  ["migrate_config", "system"],
  ["create_branch", "control"],
];
const NOTHING = "- - - - -";
/** A line per cell above; five zones in a line: own, protected, shared, managed, secret. */
const CONTRIBUTORS: Readonly<Record<PresetName, readonly string[]>> = {
  reader: ["ok ok ok - -", "ok ok ok - -", NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING],
  dev: [
    "ok ok ok - -",
    "ok ok ok - -",
    "ok ask - - -",
    "ok ask - - -",
    "ok ok - - -",
    "ok ok - - -",
    NOTHING,
    NOTHING,
    NOTHING,
  ],
  autonomous: [
    "ok ok ok - -",
    "ok ok ok - -",
    "stage stage - - -",
    "stage stage - - -",
    "stage stage - - -",
    "stage stage - - -",
    NOTHING,
    NOTHING,
    NOTHING,
  ],
  meao: [
    "ok ok ok - -",
    "ok ok ok - -",
    "ok ask - - -",
    "ok ask - - -",
    "ok ok - - -",
    "ok - - - -",
    NOTHING,
    NOTHING,
    NOTHING,
  ],
  brio: [
    "ok ok ok - -",
    "ok ok ok - -",
    "ok ask - - -",
    "ok ask - - -",
    "ok ok - - -",
    "ok - - - -",
    NOTHING,
    NOTHING,
    NOTHING,
  ],
  open: [
    "ok ok ok - -",
    "ok ok ok - -",
    "ok ok - - -",
    "ok ok - - -",
    "ok ok - - -",
    "ok ok - - -",
    "ok ok - - -",
    NOTHING,
    "ok ok - - -",
  ],
};

function expected(preset: PresetName, role: string): readonly string[] {
  const lines = CONTRIBUTORS[preset];
  if (role === "product_owner") return lines.map(() => NOTHING);
  if (role === "guest") return preset === "open" ? lines : lines.map(() => NOTHING);
  if (role === "sre" && preset === "open") return lines.with(7, "ok ok - - -");
  return role === "sre" && ["dev", "meao", "brio"].includes(preset) ? lines.with(7, "arm+ask arm+ask - - -") : lines;
}

describe("every role × zone × effect", () => {
  test.each(PRESET_NAMES.flatMap((preset) => ROLES.map((role) => [preset, role] as const)))(
    "preset %s, role %s",
    (preset, role) => {
      const seen = CELLS.map(([action, effect]) =>
        ZONES.map((zone) => answer(preset, { role, action, effect, resource: file(zone) })).join(" "),
      );
      expect(seen).toEqual(expected(preset, role));
    },
  );
});

describe("fixed rules", () => {
  test.each(PRESET_NAMES)(
    "preset %s: secret, managed and unknown zones and shared writes name their rule",
    (preset) => {
      expect(denial(preset, { resource: file("secret") })).toBe("base.secret-zone");
      expect(denial(preset, { resource: file("managed") })).toBe("base.managed-zone");
      expect(denial(preset, { resource: file("shared"), action: "write_file", effect: "write" })).toBe(
        "base.shared-read-only",
      );
      expect(denial(preset, { resource: file("elsewhere" as Zone) })).toBe("base.unknown-zone");
    },
  );

  test("what executes may not write shared files either", () => {
    expect(denial("open", { resource: file("shared"), action: "shell", effect: "exec" })).toBe("base.shared-read-only");
  });

  test.each(["git_push", "git:push"])("%s is for the release manager alone, in every preset", (action) => {
    const resource: PolicyResource = { kind: "git_ref", remote: "origin", ref: "main" };
    const by = (preset: PresetName, role: string) => answer(preset, { action, effect: "network", role, resource });
    expect(ROLES.map((role) => by("dev", role))).toEqual(["-", "-", "ask", "-", "-"]);
    expect(ROLES.map((role) => by("open", role))).toEqual(["-", "-", "ok", "-", "-"]);
    expect(ROLES.map((role) => by("autonomous", role))).toEqual(["-", "-", "-", "-", "-"]);
    expect(denial("open", { action, effect: "network", resource })).toBe("base.push-release-manager-only");
  });

  test.each(["install_package", "verify_binary", "system_ctl", "migrate_config"])(
    "%s is for the sre alone, armed and asked",
    (action) => {
      const resource: PolicyResource = { kind: "tool", name: action };
      expect(ROLES.map((role) => answer("dev", { action, effect: "system", role, resource }))).toEqual([
        "-",
        "arm+ask",
        "-",
        "-",
        "-",
      ]);
      expect(denial("open", { action, effect: "system", resource })).toBe("base.system-sre-only");
    },
  );

  test("a system access of another tool is for the sre alone", () => {
    const resource: PolicyResource = commandOf(["apt-get", "update"]);
    expect(denial("open", { action: "everywhere", effect: "system", resource })).toBe("base.system-sre-only");
    expect(answer("open", { action: "everywhere", effect: "system", resource, role: "sre" })).toBe("ok");
  });

  test("dependencies are installed by dev, sre and release_manager", () => {
    const resource: PolicyResource = commandOf(["npm", "ci"]);
    const parts = { action: "install_dependencies", effect: "exec" as const, resource };
    expect(ROLES.map((role) => answer("dev", { ...parts, role }))).toEqual(["ok", "ok", "ok", "-", "-"]);
    const scripts = { ...parts, resource: commandOf(["npm", "ci"], { dangers: ["argument_program"] }) };
    expect(ROLES.map((role) => answer("dev", { ...scripts, role }))).toEqual(["ask", "ask", "ask", "-", "-"]);
    expect(denial("open", { ...parts, role: "guest" })).toBe("base.install-roles");
  });

  test("an operator's permit does not lift a fixed rule", async () => {
    const all = operator(`@id("own.all") @waives("*") permit (principal, action, resource);`);
    const engine = await engineOf([...presetSources("open"), all]);
    expect(engine.evaluate(request({ resource: file("secret", ".env") }))).toMatchObject({
      decision: "deny",
      ruleId: "base.secret-zone",
    });
  });
});

describe("product owner", () => {
  const reads = (path: string, preset: PresetName = "dev", action = "read_file") =>
    answer(preset, { role: "product_owner", action, resource: file("own", path) });

  test.each(PRESET_NAMES)("preset %s: reads docs, plans and top-level Markdown only", (preset) => {
    const allowed = ["docs", "docs/a.md", "docs/deep/b.txt", "plans", "plans/q3.yaml", "README.md", ".md"];
    const denied = [
      ".",
      "src/a.ts",
      "src/README.md",
      "docs.md/x",
      "docsx/a.md",
      "a/docs/b.md",
      "plan",
      "README.txt",
      "notes.md.ts",
    ];
    expect(allowed.map((path) => reads(path, preset))).toEqual(allowed.map(() => "ok"));
    expect(denied.map((path) => reads(path, preset))).toEqual(denied.map(() => "-"));
    expect(reads("docs", preset, "list_files")).toBe("ok");
    expect(reads("docs/a.md", preset, "search_file")).toBe("ok");
  });

  test("writes, commits and searches the code in no preset", () => {
    const tried: readonly RequestParts[] = [
      { action: "write_file", effect: "write", resource: file("own", "docs/a.md") },
      { action: "edit_file", effect: "read", resource: file("own", "docs/a.md") },
      { action: "git_commit", effect: "write", resource: { kind: "tool", name: "git_commit" } },
      { action: "search_knowledge", resource: { kind: "tool", name: "search_knowledge" } },
      { action: "artifact_fetch", resource: { kind: "artifact", id: "a" } },
      { action: "web_fetch", effect: "network", resource: { kind: "host", host: "example.com", port: 443 } },
    ];
    for (const preset of PRESET_NAMES)
      expect(tried.map((parts) => answer(preset, { ...parts, role: "product_owner" }))).toEqual(tried.map(() => "-"));
  });

  test("may say that it is done", () => {
    expect(
      answer("dev", {
        role: "product_owner",
        action: "done",
        effect: "control",
        resource: { kind: "tool", name: "done" },
      }),
    ).toBe("ok");
  });
});

describe("presets", () => {
  test("who may store content, publish it and fetch it", () => {
    const artifact = { kind: "artifact", id: "report" } as const;
    const tried: readonly RequestParts[] = [
      { action: "put_content", effect: "write", resource: { kind: "artifact", id: "blake3:00" } },
      { action: "artifact_publish", effect: "write", resource: artifact },
      { action: "artifact_fetch", resource: artifact },
    ];
    const answers = (["reader", "dev", "autonomous", "open"] as const).map((preset) => [
      preset,
      ...tried.map((parts) => answer(preset, parts)),
    ]);
    expect(answers).toEqual([
      ["reader", "-", "-", "ok"],
      ["dev", "ok", "ok", "ok"],
      ["autonomous", "ok", "stage", "ok"],
      ["open", "ok", "ok", "ok"],
    ]);
  });

  test("autonomous has no network, not even for an operator's permit", async () => {
    const engine = await engineOf([
      ...presetSources("autonomous"),
      operator(`@id("own.all") permit (principal, action, resource);`),
    ]);
    const host: PolicyResource = { kind: "host", host: "example.com", port: 443 };
    const tried: readonly RequestParts[] = [
      { action: "web_fetch", effect: "network", resource: host },
      { action: "everywhere", effect: "exec", resource: host },
      { action: "everywhere", effect: "exec", resource: commandOf(["curl", "x"]), context: { network: true } },
      { action: "everywhere", effect: "network", resource: { kind: "tool", name: "everywhere" } },
    ];
    for (const parts of tried)
      expect(engine.evaluate(request(parts))).toMatchObject({ decision: "deny", ruleId: "autonomous.no-network" });
    expect(engine.evaluate(request()).decision).toBe("allow");
  });

  test("autonomous stages every write it allows and leaves the merge to people", () => {
    for (const action of ACTIONS.filter((declared) => declared.effect === "write" || declared.effect === "exec")) {
      for (const kind of ["file", "tool"] as const) {
        const resource: PolicyResource = kind === "file" ? file() : { kind: "tool", name: action.name };
        if (action.resources.includes(kind))
          expect(["stage", "-"]).toContain(answer("autonomous", { action: action.name, effect: "write", resource }));
      }
    }
    expect(
      denial("autonomous", {
        action: "merge_branch",
        effect: "write",
        resource: { kind: "tool", name: "merge_branch" },
      }),
    ).toBe("autonomous.no-merge");
  });

  test("open waives what capabilities ask", () => {
    const capabilityObligations = [{ obligation: "ask" as const, ruleId: "CAPABILITY:shell" }];
    const parts: RequestParts = {
      action: "shell",
      effect: "exec",
      resource: commandOf(["ls"]),
      capabilityObligations,
    };
    expect([answer("open", parts), answer("dev", parts)]).toEqual(["ok", "ask"]);
  });

  test("a tool from outside asks in dev and is denied in reader and autonomous, whatever effect it claims", () => {
    const parts: RequestParts = { action: "plugin__lookup", resource: { kind: "tool", name: "plugin__lookup" } };
    expect(PRESET_NAMES.map((preset) => answer(preset, parts))).toEqual(["-", "ask", "-", "ask", "ask", "ok"]);
  });

  test("every policy has an id of its preset and a message that says what to do", async () => {
    for (const name of PRESET_NAMES) {
      const found = await checkPolicies({ sources: presetSources(name), actions: ACTIONS, roles: ROLES });
      expect(found).toMatchObject({ ok: true, problems: [] });
      for (const policy of engines.get(name)?.policies ?? []) {
        expect(policy.id.startsWith(`${policy.file.replace(".cedar", "")}.`)).toBe(true);
        expect(policy.message, policy.id).toMatch(/^[a-z].*[;].*[^.]$/);
      }
    }
  });

  test("a preset is valid when none of its tools is registered", async () => {
    for (const name of PRESET_NAMES)
      expect(await checkPolicies({ sources: presetSources(name), actions: [], roles: ["dev"] })).toMatchObject({
        ok: true,
        problems: [],
      });
  });

  test("names are known exactly", () => {
    expect(["reader", "dev", "autonomous", "open", "base", "DEV", ""].map(isPresetName)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
