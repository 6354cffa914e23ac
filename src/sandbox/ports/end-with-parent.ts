/**
 * Ends a forked process with its parent, also while its code loops.
 *
 * A process hears that its channel is closed only when it comes to listen, so that a thread looks after the parent.
 */
import process from "node:process";
import { Worker } from "node:worker_threads";

const WATCH = `
  const { workerData: parent } = require("node:worker_threads");
  setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), 1000);
`;

/** Begins to look after the parent. */
export function endWithParent(): void {
  new Worker(WATCH, { eval: true, workerData: process.ppid }).unref();
  process.on("disconnect", () => process.exit());
}
