/**
 * Implements the administration service on an open kernel.
 *
 * It covers the operator's acts, the ledger, the policies and the kernel's health.
 */
import { Worker } from "node:worker_threads";
import { KernelError, ledgerUnavailable } from "../../base/errors.ts";
import { encodeEntry } from "../../ledger/entry.ts";
import type { VerifyReport } from "../../ledger/verify.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { ownProgram } from "../../names/own-program.ts";
import type { AdminPort } from "../../transports/connect/index.ts";
import type { OpenKernel } from "../compose.ts";
import { type LedgerReader, openLedgerReader } from "../ledger/ledger-reader.ts";
import type { VerifyWorkerData, VerifyWorkerReply } from "../ledger/verify-worker.ts";
import { handrailVersion } from "../operator/package-files.ts";
import { approverOf } from "../people/approver-credentials.ts";
import { OperatorProof } from "../people/operator-proof.ts";
import { checkPresets } from "../policy/policy-check.ts";
import { approvalPort } from "./approval-port.ts";
import { freezePort } from "./freeze-port.ts";

const WRONG_CREDENTIAL: Denial = {
  layer: "authenticate",
  reason: "session_invalid",
  ruleId: "ADMIN:credential",
  message: "this is not the admin credential; make one with `handrail admin token`",
};

const WRONG_APPROVER: Denial = {
  layer: "authenticate",
  reason: "session_invalid",
  ruleId: "APPROVER:credential",
  message: "this is no approver's credential; make one with `handrail approvers add NAME`",
};

/** The port, and how to let go of what it opened. */
export interface OpenAdminPort extends AdminPort {
  readonly close: () => Promise<void>;
}

/** The administration of `kernel`. */
export function adminPort(kernel: OpenKernel): OpenAdminPort {
  const { administration, stateDirectory } = kernel;
  let reader: Promise<LedgerReader> | undefined;
  let closed = false;
  const opened = () => {
    if (closed) throw ledgerUnavailable("the kernel is shutting down; ask again when it runs");
    reader ??= openLedgerReader(stateDirectory).catch((error: unknown) => {
      reader = undefined; // the next request tries again
      throw error;
    });
    return reader;
  };
  return {
    authenticate: async (token) => {
      const right = (await OperatorProof.byCredential(stateDirectory, token)) !== undefined;
      if (!right) await kernel.door.recordRefusal(WRONG_CREDENTIAL);
      return right;
    },
    authenticateApprover: async (token) => {
      const right = (await approverOf(stateDirectory, token)) !== undefined;
      if (!right) await kernel.door.recordRefusal(WRONG_APPROVER);
      return right;
    },
    approvals: approvalPort(kernel.approvals),
    freezes: freezePort(kernel, async () => opened()),
    createSession: async (wish, credential) => {
      const operator = await OperatorProof.byCredential(stateDirectory, credential);
      // Replaced since the request came: it is a client's then.
      return administration.createSession({ ...wish, ...(operator && { operator }) });
    },
    listSessions: () => administration.listSessions(),
    revokeSession: (id) => administration.revokeSession(id),
    createLease: (scope, lifetimeMs, budget) => administration.createLease(scope, lifetimeMs, budget),
    deriveLease: (parentId, wish) => administration.deriveLease(parentId, wish),
    listLeases: () => administration.listLeases(),
    renewLease: (id, lifetimeMs) => administration.renewLease(id, lifetimeMs),
    releaseLease: (id) => administration.releaseLease(id),
    arm: (sessionId, durationMs) => kernel.arming.arm(sessionId, durationMs, "admin"),
    disarm: (sessionId) => kernel.arming.disarm(sessionId, "admin"),
    entries: async (from, count) => {
      const ledger = await opened();
      const records = from === 0 ? await ledger.tail(count) : await ledger.range(from, count);
      const plain = records.map(({ entry, hash, payload }) => ({
        entry: encodeEntry(entry),
        hash,
        ...(payload !== undefined && { payload }),
      }));
      return { records: plain, head: (await ledger.head()).sequence };
    },
    verifyLedger: (signal) => verifyApart(stateDirectory, signal),
    checkPolicy: (preset) => checkPresets(process.env, kernel.operator.path, preset),
    health: () => ({
      version: handrailVersion(),
      instanceId: kernel.instanceId,
      ledger: kernel.health(),
      stalls: kernel.health().stalls,
      tools: kernel.door.tools().length,
      telemetryDropped: kernel.health().telemetryDropped,
    }),
    close: async () => {
      closed = true;
      // One that could not be opened is not there to close; whoever asked for it was told.
      const open = await reader?.catch(() => undefined);
      await open?.close();
    },
  };
}

/** Verifies in a thread of its own, because hashing a whole ledger takes long; ends when nobody waits any more. */
function verifyApart(stateDirectory: string, signal: AbortSignal): Promise<VerifyReport> {
  const worker = new Worker(ownProgram(import.meta.url, "../ledger/verify-worker.ts"), {
    workerData: { stateDirectory } satisfies VerifyWorkerData,
  });
  const stop = () => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return new Promise<VerifyReport>((done, failed) => {
    worker.once("message", (reply: VerifyWorkerReply) => {
      if (reply.kind === "report") done(reply.report);
      else failed(new KernelError(reply.code, reply.message));
    });
    worker.once("error", failed);
    worker.once("exit", () => failed(ledgerUnavailable("the verification was broken off; ask again")));
  }).finally(() => signal.removeEventListener("abort", stop));
}
