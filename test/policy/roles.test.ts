/**
 * The matrix of roles, cell by cell: every role, every canonical tool, its typical accesses, in the default preset. A
 * tool that is yet to come is judged by its name, its effect class and what is known of its capability.
 */

import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { systemSettings } from "../../src/config/sections/tools/system.ts";
import { INITIAL_MARK } from "../../src/flow/flow.ts";
import { imagineAccesses, imagineCall, ToolRegistry } from "../../src/kernel/index.ts";
import type { EffectClass } from "../../src/model/outcome/effect.ts";
import { NO_GATES } from "../../src/model/people/gates.ts";
import { type Lease, UNRESTRICTED_SCOPE } from "../../src/model/people/lease.ts";
import type { Session } from "../../src/model/people/session.ts";
import type { Access, Resource } from "../../src/model/place/access.ts";
import { commandOf } from "../../src/model/place/command.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../src/model/place/zone.ts";
import type { ToolCapability } from "../../src/model/tool/capability.ts";
import type { Tool } from "../../src/model/tool/tool.ts";
import { createPolicyEngine, type PolicyEngine } from "../../src/policy/policy.ts";
import { withCanonicalActions } from "../../src/policy/terms/action.ts";
import { createRedactor } from "../../src/redact/redact.ts";
import { ownTools } from "../../src/server/operator/built-in-tools.ts";
import { presetSources } from "../support/policy-fixtures.ts";

/** All tools of the kernel's own, with something listed for each of those that touch the machine. */
const OWN_TOOLS = ownTools({
  system: systemSettings.parse({
    packages: { apt: { program: "/usr/bin/apt-get" } },
    services: { names: ["docker"] },
    config_files: { app: { path: "config/app.yaml", version: "version", migrations: [{ from: 1, to: 2 }] } },
  }),
});

/** The four roles of Flow's matrix, and one that an operator defined and nobody granted anything. */
const ROLES = ["dev", "sre", "release_manager", "product_owner", "auditor"] as const;

const SERVICE = "/w/services/shop";
const FILES: Readonly<Record<string, string>> = {
  own: "src/a.ts",
  protected: "CLAUDE.md",
  docs: "docs/deep/a.txt",
  plans: "plans/q3.yaml",
  markdown: "README.md",
  shared: "/w/shared/api.md",
  secret: ".env",
  managed: "node_modules/x/index.js",
};
const OTHERS: Readonly<Record<string, Resource>> = {
  command: commandOf(["npm", "test"]),
  host: { kind: "host", host: "api.github.com", port: 443 },
  model: { kind: "model", provider: "openai", model: "m" },
  git: { kind: "git_ref", remote: "origin", ref: "main", operation: "any" },
  artifact: { kind: "artifact", id: "report" },
  package: { kind: "package", manager: "apt", name: "curl", version: "7.88.1" },
};

/** What is known of tools that are yet to come, besides their effect class. */
const STUBS: Readonly<Record<string, Partial<ToolCapability>>> = {
  git_push: { requiredRole: "release_manager" },
  web_fetch: { network: { mode: "allowlist", allowedHosts: ["*.github.com"] } },
  install_dependencies: { network: { mode: "allowlist", allowedHosts: ["*.github.com"] } },
  inference: { network: { mode: "allowlist", allowedHosts: ["*.github.com"], allowedProviders: ["openai"] } },
};

const ACTIONS = withCanonicalActions([]).map((action) => ({
  ...action,
  resources: [...action.resources, "package" as const],
}));
const EFFECTS: Readonly<Record<string, EffectClass>> = Object.fromEntries(
  ACTIONS.map(({ name, effect }) => [name, effect]),
);

/** A tool of that name which names one access: the real capability where there is one. */
function stub(name: string): Tool {
  const effect = EFFECTS[name];
  if (effect === undefined) throw new Error(`there is no action ${name}`);
  const built = OWN_TOOLS.find((tool) => tool.name === name);
  return {
    name,
    title: name,
    description: "a tool of the matrix",
    parameters: z.strictObject({ on: z.string() }),
    capability: built?.capability ?? { effect, risk: "low", approval: { level: "auto" }, ...STUBS[name] },
    analyse: (args) => accessesOf(name, effect, (args as { on: string }).on),
    execute: () => ({ kind: "data", data: {} }),
  };
}

/** The accesses of a tool on something; an edit reads what it writes. */
function accessesOf(name: string, effect: EffectClass, on: string): readonly Access[] {
  const path = FILES[on];
  if (path !== undefined) {
    const effects =
      name === "edit_file" || name === "rename_symbol"
        ? (["read", "write"] as const)
        : [effect === "exec" || effect === "system" ? "write" : effect];
    return effects.map((one) => ({ resource: { kind: "file", path }, effect: one }));
  }
  const resource = OTHERS[on];
  return resource === undefined ? [] : [{ resource, effect: resource.kind === "host" ? "network" : effect }];
}

const registry = new ToolRegistry();
for (const { name } of ACTIONS) if (!name.includes(":")) registry.register(stub(name));

let policy: PolicyEngine;
beforeAll(async () => {
  policy = await createPolicyEngine({ actions: ACTIONS, sources: presetSources("dev"), roles: ROLES });
});

const LEASE: Lease = {
  id: "lea_1",
  scope: UNRESTRICTED_SCOPE,
  budget: {},
  createdAtMs: 0,
  expiresAtMs: Number.MAX_SAFE_INTEGER,
};
const place = {
  workspace: {
    serviceRoot: SERVICE,
    projectRoot: "/w",
    sharedPaths: BUILT_IN_ZONE_RULES.shared,
    zones: compileZones(BUILT_IN_ZONE_RULES, "services/shop"),
  },
  disabledTools: new Set<string>(),
};

function sessionOf(role: string): Session {
  return {
    ...{
      id: "ses_1",
      tokenHash: "",
      userId: "ada",
      agentId: "agent",
      role,
      serviceRoot: SERVICE,
      projectRoot: "/w",
      isolationLevel: "STRICT",
    },
    ...{ leaseId: LEASE.id, mode: "default", preset: "dev", createdAtMs: 0, expiresAtMs: Number.MAX_SAFE_INTEGER },
  };
}

const redactor = createRedactor();

/** One cell: the obligations of an allowed call (`ok` when there are none), or `-`; then the rules that decide. */
function cell(role: string, name: string, on: string): string {
  const caller = { session: sessionOf(role), lease: LEASE, place, mark: INITIAL_MARK, armed: false, gates: NO_GATES };
  const decided = name.includes(":")
    ? imagineAccesses(policy, {
        session: caller.session,
        tool: { name, capability: stub(name).capability },
        accesses: accessesOf(name, EFFECTS[name] ?? "read", on) as never,
        context: { time: 0 },
      })
    : imagineCall({ registry, policy, redactor, caller, tool: name, args: { on }, nowMs: 0 });
  if (!decided.ok) return `- ${decided.denial.ruleId}`;
  const due = [...new Set(decided.value.obligations.map(({ obligation }) => obligation))].sort().join("+");
  return `${due === "" ? "ok" : due} ${decided.value.permits.join(",")}`;
}

/**
 * Tools; on what; what becomes of it for dev, sre, release_manager, product_owner and auditor: `ok` or what must happen
 * first, with the permits that match, or `-` with the rule that refuses. `=` repeats the cell to the left, TOOL is the
 * tool.
 */
const MATRIX = `
read_file search_file count_matches list_files search_knowledge find_usage diagnostics get_related_tests get_system_map get_task_context
  on own shared
  | ok dev.read-files | = | = | - base.product-owner-reads-documents | - DEFAULT_DENY
read_file search_file count_matches list_files search_knowledge find_usage diagnostics get_related_tests get_system_map get_task_context
  on protected docs plans markdown
  | ok dev.read-files | = | = | ok base.product-owner-documents | - DEFAULT_DENY
read_file search_file count_matches list_files search_knowledge find_usage diagnostics get_related_tests get_system_map get_task_context write_file edit_file rename_symbol delete_file
  on secret
  | - ZONE:secret | = | = | = | =
read_file search_file count_matches list_files search_knowledge find_usage diagnostics get_related_tests get_system_map get_task_context write_file edit_file rename_symbol delete_file
  on managed
  | - ZONE:managed | = | = | = | =
artifact_fetch
  on itself artifact
  | ok dev.read-others | = | = | - base.product-owner-reads-documents | - DEFAULT_DENY
list_branches branch_diff
  on itself
  | ok dev.read-others | = | = | - base.product-owner-reads-documents | - DEFAULT_DENY
git_status git_diff git:status git:diff git:log git:show
  on itself git
  | ok dev.read-others | = | = | - base.product-owner-reads-documents | - DEFAULT_DENY
write_file
  on own docs plans markdown
  | ok dev.write-own | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
write_file delete_file merge_branch
  on protected
  | ask dev.write-protected | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
write_file edit_file rename_symbol delete_file
  on shared
  | - ZONE:shared | = | = | = | =
edit_file rename_symbol
  on own docs plans markdown
  | ok dev.read-files,dev.write-own | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
edit_file rename_symbol
  on protected
  | ask dev.read-files,dev.write-protected | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
delete_file
  on own docs plans markdown
  | ok dev.delete-own | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
put_content artifact_publish
  on itself artifact
  | ok dev.write-artifacts | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
merge_branch
  on itself
  | ok dev.merge-branch | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
merge_branch
  on own
  | ask dev.merge-files | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
git_add git_commit git_checkout git:add git:commit git:checkout git:branch git:merge git:reset git:stash git:tag
  on itself git
  | ok dev.git-local | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
git:rebase git:remote
  on itself git
  | ask dev.git-rewrite | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
shell
  on itself command
  | ok shell.run | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
shell
  on own docs plans markdown protected
  | ok shell.files | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
shell
  on host
  | ask shell.network | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
run_test run_lint
  on itself command
  | ok dev.test-and-lint | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
run_test run_lint
  on own protected
  | ok dev.test-and-lint-write | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
install_dependencies
  on itself command
  | ok dev.install | = | = | - base.install-roles | =
install_dependencies
  on host
  | ask dev.install | = | = | - base.install-roles | =
install_dependencies
  on own
  | ok dev.install-write | = | = | - base.install-roles | =
install_dependencies
  on protected
  | - DEFAULT_DENY | = | = | - base.install-roles | =
web_fetch
  on itself
  | ask dev.web-fetch | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
web_fetch
  on host
  | ok dev.web-fetch | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
inference
  on itself host model
  | ask dev.inference | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
git_push
  on itself git
  | - RBAC:TOOL | = | ask dev.git-push | - RBAC:TOOL | =
git:push
  on itself git
  | - base.push-release-manager-only | = | ask dev.git-push | - base.product-owner-changes-nothing | - base.push-release-manager-only
git:fetch git:pull git:clone
  on itself git
  | ask dev.git-remote | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
install_package verify_binary system_ctl migrate_config
  on itself command own package
  | - RBAC:TOOL | arm+ask dev.system | - RBAC:TOOL | = | =
install_package verify_binary system_ctl migrate_config
  on secret
  | - RBAC:TOOL | - ZONE:secret | - RBAC:TOOL | = | =
done
  on itself
  | ok dev.done | = | = | ok base.product-owner-done | - DEFAULT_DENY
create_task create_branch drop_branch
  on itself
  | ok dev.branches | = | = | - base.product-owner-changes-nothing | - DEFAULT_DENY
`;

const CELLS = MATRIX.trim()
  .split(/\n(?=\S)/)
  .flatMap((row) => {
    const [tools = "", on = "", cells = ""] = row.split(/\n +(?:on|\|) /);
    return tools
      .split(" ")
      .flatMap((tool) => on.split(" ").map((one) => ({ tool, on: one, cells: cells.split(" | ") })));
  });

test.each([...new Set(CELLS.map(({ tool }) => tool))])("%s: what it answers to whom, and by which rule", (tool) => {
  const rows = CELLS.filter((row) => row.tool === tool);
  const expected = rows.map(({ on, cells }) => ({ on, ...expectedOf(tool, cells) }));
  expect(
    rows.map(({ on }) => ({ on, ...Object.fromEntries(ROLES.map((role) => [role, cell(role, tool, on)])) })),
  ).toEqual(expected);
});

function expectedOf(tool: string, cells: readonly string[]): Readonly<Record<string, string>> {
  let last = "";
  return Object.fromEntries(
    ROLES.map((role, index) => {
      const stated = cells[index] ?? "";
      if (stated !== "=") last = stated.replace("TOOL", tool);
      return [role, last];
    }),
  );
}

test("the matrix names every canonical action, and every kind of file for every tool of files", () => {
  expect([...new Set(CELLS.map(({ tool }) => tool))].sort()).toEqual(ACTIONS.map(({ name }) => name).sort());
  const cells = CELLS.map(({ tool, on }) => `${tool} ${on}`);
  expect(new Set(cells).size).toBe(cells.length);
  for (const tool of [
    "read_file",
    "search_file",
    "count_matches",
    "list_files",
    "search_knowledge",
    "find_usage",
    "diagnostics",
    "get_related_tests",
    "get_system_map",
    "get_task_context",
    "write_file",
    "edit_file",
    "rename_symbol",
    "delete_file",
  ]) {
    expect(
      CELLS.filter((row) => row.tool === tool)
        .map(({ on }) => on)
        .sort(),
    ).toEqual(Object.keys(FILES).sort());
  }
});

test("a role that is not defined is refused everything", () => {
  expect(
    [...new Set(CELLS.map(({ tool, on }) => cell("ghost", tool, on).replace(`RBAC:${tool}`, "RBAC")))].sort(),
  ).toEqual(["- POLICY_REQUEST", "- RBAC", "- ZONE:managed", "- ZONE:secret", "- ZONE:shared"]);
});
