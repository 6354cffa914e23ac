/** `handrail roles`: which roles clients of a workspace may ask for. */
import type { Command } from "commander";
import type { RoleChange } from "../../server/workspace/role-grants.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, printJson, table, visible } from "../terminal/output.ts";

interface RoleFlags extends KernelFlags {
  readonly workspace: string;
  readonly json?: boolean;
}

/** Adds `handrail roles`. */
export function addRolesCommand(program: Command): void {
  const roles = program
    .command("roles")
    .description("show, grant and take back the roles that clients of a workspace may ask for");
  withKernelOptions(
    roles.command("list").description("list the roles and who may ask for them").option("--json", "print JSON"),
  ).action(listRoles);
  for (const [name, description] of [
    [
      "grant",
      "let clients of a workspace ask for a role; changes the operator's handrail.yaml and is recorded with your name",
    ],
    ["revoke", "take a granted role back; sessions that have it keep it until they end"],
  ] as const) {
    const command = roles
      .command(`${name} <role>`)
      .description(description)
      .option("--workspace <directory>", "workspace root", ".")
      .option("--json", "print JSON");
    withKernelOptions(command).action((role: string, flags: RoleFlags) => changeRole(name, role, flags));
  }
}

async function listRoles(flags: KernelFlags & { readonly json?: boolean }): Promise<void> {
  const report = await withKernel(flags, ({ roles }) => roles.list());
  if (flags.json) return printJson(report);
  print(`defined: ${report.defined.join(", ")}`);
  const rows = report.grants.map(({ workspace, roles }) => [visible(workspace), roles.join(", ") || "none"]);
  print(table([["WORKSPACE", "CLIENTS MAY ASK FOR"], ...rows, ["every other", report.otherwise.join(", ") || "none"]]));
}

async function changeRole(what: "grant" | "revoke", role: string, flags: RoleFlags): Promise<void> {
  await withKernel(flags, async (kernel) => {
    const change = await kernel.roles[what](role, flags.workspace, currentUser());
    if (flags.json) return printJson(change);
    print(visible(sentence(what, role, change)));
    if (what === "grant") return;
    const nowMs = Date.now();
    const left = (await kernel.administration.listSessions()).filter(
      (session) =>
        session.role === role &&
        session.serviceRoot === change.workspace &&
        session.revokedAtMs === undefined &&
        session.expiresAtMs > nowMs,
    );
    if (left.length > 0)
      print(`sessions that still have it: ${left.map(({ id }) => id).join(", ")} (\`handrail sessions revoke ID\`)`);
  });
}

function sentence(what: "grant" | "revoke", role: string, { workspace, roles, changed, added }: RoleChange): string {
  if (!changed) return `clients of ${workspace} may ask for ${role} already`;
  const now = `clients of ${workspace} may ask for ${roles.join(", ") || "no role"} now`;
  if (what === "revoke") return now;
  return added
    ? `${now}; the workspace got an entry of its own in handrail.yaml, which also binds its project root and preset`
    : now;
}
