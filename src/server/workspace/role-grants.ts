/**
 * Shows, grants and takes back the roles of a workspace's clients in the operator's handrail.yaml.
 *
 * A client may ask for a granted role. Sessions that the operator proves to ask for (`operator-proof.ts`) need no
 * grant. Granting is the operator's act at the command line alone: no answer of a client, attended or not, reaches it.
 *
 * INVARIANTS: a grant is recorded before it holds. Only roles that are defined can be granted. Two changes at once
 * cannot lose each other.
 */

import type { Clock } from "../../base/clock.ts";
import { usageError } from "../../base/errors.ts";
import type { Settings } from "../../config/config.ts";
import { BY_OPERATOR } from "../../ledger/actors.ts";
import type { EventSink, EventType } from "../../model/outcome/event.ts";
import { readOperatorDirectory } from "../operator/operator-directory.ts";
import { realPath } from "../operator/real-path.ts";
import { requireOperatorDirectory, SettingsFile } from "../operator/settings-file.ts";
import { grantOf, ROLES_WITHOUT_GRANT } from "./grants.ts";
import { workspaceDirectory } from "./workspace-catalog.ts";

/** What granting works on. */
export interface RoleDeskParts {
  readonly operatorPath: string;
  readonly ledger: EventSink;
  readonly clock: Clock;
}

/** The roles of one workspace. */
export interface RoleGrant {
  readonly workspace: string;
  readonly roles: readonly string[];
}

/** What is defined and granted. */
export interface RoleReport {
  /** Every role that a session can have. */
  readonly defined: readonly string[];
  /** What clients of a workspace without a grant may ask for. */
  readonly otherwise: readonly string[];
  readonly grants: readonly RoleGrant[];
}

/** What came of a grant; `added` says that the workspace had no entry of its own before. */
export interface RoleChange extends RoleGrant {
  readonly changed: boolean;
  readonly added: boolean;
}

/** The role and the workspace of a change, and who makes it. */
interface RoleWish {
  readonly role: string;
  readonly workspace: string;
  readonly by: string;
}

/** The operator's grants of roles. */
export class RoleDesk {
  readonly #parts: RoleDeskParts;

  constructor(parts: RoleDeskParts) {
    this.#parts = parts;
  }

  /** What is defined and granted now. */
  async list(): Promise<RoleReport> {
    const { settings } = await readOperatorDirectory(this.#parts.operatorPath);
    const grants = settings.workspaces.map(({ path, roles }) => ({ workspace: path, roles }));
    return {
      defined: settings.roles,
      otherwise: ROLES_WITHOUT_GRANT.filter((role) => settings.roles.includes(role)),
      grants,
    };
  }

  /** Lets clients of a workspace ask for a role. @throws KernelError USAGE for a role that is not defined */
  grant(role: string, path: string, by: string): Promise<RoleChange> {
    return this.#change(
      "role_granted",
      { role, workspace: workspaceDirectory(path), by },
      (roles, { roles: defined }) => {
        if (!defined.includes(role))
          throw usageError(
            `the role \`${role}\` is not defined; use one of ${defined.join(", ")}, or add it to \`roles\` in handrail.yaml`,
          );
        return roles.includes(role) ? roles : [...roles, role];
      },
    );
  }

  /** Takes a role back; sessions that have it keep it until they end. The workspace may be gone meanwhile. */
  revoke(role: string, path: string, by: string): Promise<RoleChange> {
    return this.#change("role_revoked", { role, workspace: realPath(path), by }, (roles) => {
      if (!roles.includes(role))
        throw usageError(`the role \`${role}\` is not granted there; \`handrail roles list\` shows what is`);
      return roles.filter((granted) => granted !== role);
    });
  }

  async #change(
    type: EventType,
    { role, workspace, by }: RoleWish,
    change: (roles: readonly string[], settings: Settings) => readonly string[],
  ): Promise<RoleChange> {
    const { operatorPath, ledger, clock } = this.#parts;
    requireOperatorDirectory(operatorPath);
    const file = await SettingsFile.lock(operatorPath);
    try {
      const { settings } = await readOperatorDirectory(operatorPath);
      const grant = grantOf(settings, workspace);
      const before = grant?.roles ?? ROLES_WITHOUT_GRANT;
      const roles = change(before, settings);
      const done = { workspace, roles, changed: roles !== before, added: grant === undefined && roles !== before };
      if (!done.changed) return done;
      const { editRoles } = await import("../../config/role-edit.ts");
      const index = grant === undefined ? undefined : settings.workspaces.indexOf(grant);
      const text = await editRoles(file.text, file.path, { index, path: workspace, roles });
      const payload = { role, workspace, roles: [...roles], by, severity: "warning" };
      await ledger.record({ type, ...BY_OPERATOR, timeMs: clock.nowMs(), payload }, "durable");
      await file.replace(text);
      return done;
    } finally {
      await file.unlock();
    }
  }
}
