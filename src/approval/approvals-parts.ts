/** Defines what the approvals of one kernel are made of, and the settings that they go by. */
import type { Clock } from "../base/clock.ts";
import type { RandomBytes } from "../base/ids.ts";
import type { Bell } from "../model/outcome/bell.ts";
import type { EventSink } from "../model/outcome/event.ts";
import type { Session } from "../model/people/session.ts";
import type { ApprovalDocuments } from "./approval-documents.ts";
import type { DecisionStore } from "./decisions/decision-store.ts";
import type { ApprovalManager } from "./handler.ts";
import type { ApprovalStore, AskingLimits } from "./requests/approval-store.ts";

/** The operator's settings, as they are now. */
export interface ApprovalSettings {
  /** Milliseconds; absent: as long as may be when there is somebody who can be asked, and not at all otherwise. */
  readonly waitMs: number | undefined;
  readonly lifetimeMs: number;
  /** How often one agent may have people asked about one workspace. */
  readonly prompts: Pick<AskingLimits, "perMinuteMax" | "perHourMax">;
  /** Clients whose in-band answers come from a person. */
  readonly attendedClients: ReadonlySet<string>;
}

/** What approvals go by of a session. */
export type AskingSession = Pick<Session, "isOneCall" | "revokedAtMs">;

/** What approvals are made of. */
export interface ApprovalsParts {
  readonly store: ApprovalStore;
  readonly decisions: DecisionStore;
  readonly bell: Bell;
  /** Where an embedding program answers. */
  readonly manager?: ApprovalManager | undefined;
  /** Whether anybody holds an approver's credential. */
  readonly hasApprovers: () => Promise<boolean>;
  /** The session that asked, as it is now. */
  readonly sessionOf: (id: string) => Promise<AskingSession | undefined>;
  readonly settings: () => ApprovalSettings;
  readonly ledger: EventSink;
  /** Where what was asked and decided is kept as documents; nowhere when absent. */
  readonly documents?: ApprovalDocuments | undefined;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly onInternalError: (error: unknown) => void;
  readonly limits?: AskingLimits;
}

/** Whether a session can send no call again, and nobody else can for it. */
export function isEnded(session: AskingSession | undefined): boolean {
  return session === undefined || (session.revokedAtMs !== undefined && session.isOneCall !== true);
}
