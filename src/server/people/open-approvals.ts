/** Opens the approvals of a state directory for one kernel: who can be asked, and where answers come in. */
import { Approvals } from "../../approval/approvals.ts";
import type { ApprovalSettings, ApprovalsParts } from "../../approval/approvals-parts.ts";
import type { ApprovalManager } from "../../approval/handler.ts";
import type { MaintainedContentStore } from "../../cas/content-store.ts";
import type { Settings } from "../../config/config.ts";
import type { KernelDoor } from "../../kernel/index.ts";
import { openApprovalStore } from "../../stores/embedded/approvals/approval-store.ts";
import { openDecisionFiles } from "../../stores/embedded/approvals/decision-files.ts";
import type { ApprovalActs } from "./approval-acts.ts";
import { approvalActs } from "./approval-acts.ts";
import { approverOf, hasApprovers } from "./approver-credentials.ts";

/** What approvals need of the kernel that they belong to. */
export type ApprovalNeeds = Pick<
  ApprovalsParts,
  "bell" | "ledger" | "clock" | "random" | "sessionOf" | "onInternalError"
> & {
  readonly stateDirectory: string;
  /** Where an embedding program answers. */
  readonly manager?: ApprovalManager | undefined;
  /** The operator's settings, as they are now. */
  readonly settings: () => Settings["approvals"];
};

/** Approvals with their stores, to be closed with the kernel. */
export interface OpenApprovals {
  readonly approvals: Approvals;
  /** For people; wrong credentials are recorded through the kernel's door. */
  readonly acts: (door: Pick<KernelDoor, "recordRefusal">, content: MaintainedContentStore) => ApprovalActs;
  readonly close: () => Promise<void>;
}

/** Opens approvals. Touches nothing until a call asks. */
export function openApprovals({ stateDirectory, settings, ...needs }: ApprovalNeeds): OpenApprovals {
  const store = openApprovalStore(stateDirectory);
  const decisions = openDecisionFiles(stateDirectory, needs.onInternalError);
  const approvals = new Approvals({
    ...needs,
    store,
    decisions,
    hasApprovers: () => hasApprovers(stateDirectory),
    settings: () => plainSettings(settings()),
  });
  return {
    approvals,
    acts: ({ recordRefusal }, content) =>
      approvalActs({
        approvals,
        store,
        bell: needs.bell,
        clock: needs.clock,
        approverOf: (credential) => approverOf(stateDirectory, credential),
        recordRefusal,
        content,
      }),
    async close() {
      approvals.shutDown();
      await decisions.close();
      await store.close();
    },
  };
}

const known = new WeakMap<Settings["approvals"], ApprovalSettings>();

function plainSettings(section: Settings["approvals"]): ApprovalSettings {
  let plain = known.get(section);
  if (plain === undefined) {
    plain = {
      waitMs: section.wait_seconds === undefined ? undefined : section.wait_seconds * 1000,
      lifetimeMs: section.expire_seconds * 1000,
      prompts: { perMinuteMax: section.prompts_per_minute, perHourMax: section.prompts_per_hour },
      attendedClients: new Set(section.attended_clients),
    };
    known.set(section, plain);
  }
  return plain;
}
