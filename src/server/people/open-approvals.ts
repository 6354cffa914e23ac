/** Opens the approvals of a state directory for one kernel: who can be asked, and where answers come in. */
import type { ApprovalDocuments } from "../../approval/approval-documents.ts";
import { Approvals } from "../../approval/approvals.ts";
import type { ApprovalSettings, ApprovalsParts } from "../../approval/approvals-parts.ts";
import type { ApprovalManager } from "../../approval/handler.ts";
import type { Clock } from "../../base/clock.ts";
import { blake3Hex } from "../../base/hash.ts";
import type { MaintainedContentStore } from "../../cas/content-store.ts";
import type { Settings } from "../../config/config.ts";
import type { KernelDoor } from "../../kernel/index.ts";
import type { Redactor } from "../../redact/redact.ts";
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
  /** Absent: none are kept. */
  readonly documents?: KeptApprovals;
};

/** Where documents of approvals are kept. */
export interface KeptApprovals {
  readonly content: Pick<MaintainedContentStore, "keepDocuments">;
  /** Whether the operator wants them. */
  readonly areWanted: () => boolean;
  readonly redactor: () => Redactor | Promise<Redactor>;
}

/** Approvals with their stores, to be closed with the kernel. */
export interface OpenApprovals {
  readonly approvals: Approvals;
  /** For people; wrong credentials are recorded through the kernel's door. */
  readonly acts: (door: Pick<KernelDoor, "recordRefusal">, content: MaintainedContentStore) => ApprovalActs;
  readonly close: () => Promise<void>;
}

/** Opens approvals. Touches nothing until a call asks. */
export function openApprovals({ stateDirectory, settings, documents, ...needs }: ApprovalNeeds): OpenApprovals {
  const store = openApprovalStore(stateDirectory);
  const decisions = openDecisionFiles(stateDirectory, needs.onInternalError);
  const approvals = new Approvals({
    ...needs,
    store,
    decisions,
    documents: documents && approvalDocuments(documents, needs.clock),
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

/** Documents in the content store, durable before an entry names them. */
function approvalDocuments({ content, areWanted, redactor }: KeptApprovals, clock: Clock): ApprovalDocuments {
  return {
    async keep(text, entry) {
      if (!areWanted()) return undefined;
      const bytes = Buffer.from(text);
      const hash = blake3Hex(bytes);
      const kept = await content.keepDocuments([{ hash, bytes }], entry, clock.nowMs());
      await kept.sync();
      return hash;
    },
    hideSecrets: async (text) => (await redactor()).redact(text).text,
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
