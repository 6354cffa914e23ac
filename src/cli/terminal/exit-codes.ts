/** Exit codes of `handrail`; part of its interface. */
import { constants } from "node:os";

/** It worked; a call succeeded; the ledger is intact. */
export const EXIT_OK = 0;
/** It did not work: bad usage, bad configuration, a damaged ledger. */
export const EXIT_FAILURE = 1;
/** The call was denied. */
export const EXIT_DENIED = 2;
/** The tool answered with an error. */
export const EXIT_TOOL_ERROR = 3;
/** The same as a shell says of a program that the signal ended. */
export function exitOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** `handrail redact --explain` has found secrets. */
export const EXIT_SECRETS_FOUND = 4;
