/**
 * Standard output whose reader has gone, as `head` goes when it has seen enough.
 *
 * That is no failure: the rest is for nobody, and what the command does besides goes on to its end. An output that
 * cannot be written for another reason, such as a full disk, ends the command. Standard error never does: an agent that
 * fills the disk of a log would end the kernel, and with it the work of all others.
 */
import { errorCode } from "../../base/errors.ts";
import { EXIT_FAILURE } from "./exit-codes.ts";
import { say } from "./output.ts";

/** @throws every error but that of a reader who has gone */
export function letReaderGo(error: unknown): void {
  if (errorCode(error) !== "EPIPE") throw error;
}

/** Once for the process: a command that writes to nobody says nothing of it. */
export function letReadersGo(): void {
  process.stdout.on("error", (error) => {
    if (errorCode(error) === "EPIPE") return;
    say(`handrail: standard output cannot be written (${errorCode(error)}); what is missing is lost`);
    process.exit(EXIT_FAILURE);
  });
  process.stderr.on("error", () => undefined); // there is nowhere to say it
}
