/**
 * Implements the freeze acts of the administration service.
 *
 * They are the acts of the command line, in the name of the admin credential.
 */
import { isDeepStrictEqual } from "node:util";
import type { FreezeTarget } from "../../flow/freeze-store.ts";
import type { AdminPort } from "../../transports/connect/index.ts";
import type { OpenKernel } from "../compose.ts";
import type { LedgerReader } from "../ledger/ledger-reader.ts";
import { reviewSession } from "../people/session-review.ts";
import { workspaceDirectory } from "../workspace/workspace-catalog.ts";

/** Who acts, for the record: whoever holds the credential is nobody by name. */
const BY = "admin";

/** Freezes of an open kernel. */
export function freezePort(
  { freezes, marks, administration }: Pick<OpenKernel, "freezes" | "marks" | "administration">,
  ledger: () => Promise<LedgerReader>,
): AdminPort["freezes"] {
  return {
    targetOf: (sessionId) => freezes.targetOf(sessionId),
    kill: async (target, reason) => freezes.kill(canonical(target), { by: BY, reason }),
    async resume(target, reason) {
      // As it is listed, because its directory may be gone.
      const isListed = (await freezes.listFreezes()).some((freeze) => isDeepStrictEqual(freeze.target, target));
      return freezes.resume(isListed ? target : canonical(target), { by: BY, reason });
    },
    async list() {
      const [held, sessions] = await Promise.all([freezes.listFreezes(), administration.listSessions()]);
      const frozen = sessions.filter(
        ({ frozenAtMs, revokedAtMs }) => frozenAtMs !== undefined && revokedAtMs === undefined,
      );
      return { freezes: held, sessions: frozen };
    },
    freezeSession: (id, reason) => freezes.freezeSession(id, { by: BY, reason }),
    async review(id) {
      const session = await freezes.sessionOf(id);
      const desk = { freezes, marks, sessions: administration, reader: await ledger() };
      return reviewSession(desk, session, Date.now());
    },
    async resumeSession(id, reason) {
      const { session, lifted, remaining } = await freezes.resumeSession(id, { by: BY, reason });
      const [first] = lifted;
      return { session, ...(first && { lifted: first }), ...(remaining && { remaining }) };
    },
  };
}

/** Sessions have the real path of their workspace: a freeze of another spelling would hold nobody. */
function canonical(target: FreezeTarget): FreezeTarget {
  return target.scope === "workspace" ? { ...target, serviceRoot: workspaceDirectory(target.serviceRoot) } : target;
}
