/** The thread that verifies a ledger beside the kernel that writes it: opens it read-only, answers once, ends. */

import { parentPort, workerData } from "node:worker_threads";
import { KernelError, type KernelErrorCode } from "../../base/errors.ts";
import type { VerifyReport } from "../../ledger/verify.ts";
import { withLedgerReader } from "./ledger-reader.ts";

/** What the thread is started with. */
export interface VerifyWorkerData {
  readonly stateDirectory: string;
}

/** What it answers: the report, or why there is none. */
export type VerifyWorkerReply =
  | { readonly kind: "report"; readonly report: VerifyReport }
  | { readonly kind: "failed"; readonly code: KernelErrorCode; readonly message: string };

async function verify(stateDirectory: string): Promise<VerifyWorkerReply> {
  try {
    return { kind: "report", report: await withLedgerReader(stateDirectory, (reader) => reader.verify()) };
  } catch (error) {
    if (error instanceof KernelError) return { kind: "failed", code: error.code, message: error.message };
    throw error;
  }
}

const { stateDirectory } = workerData as VerifyWorkerData;
parentPort?.postMessage(await verify(stateDirectory));
