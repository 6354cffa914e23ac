/** Exit codes of `handrail`: the one list of them, and part of its interface. */
import { constants } from "node:os";
import { KernelError } from "../../base/errors.ts";

/** It worked; a call succeeded; the ledger is intact. */
export const EXIT_OK = 0;
/** It did not work: bad configuration, a state that cannot be used, a check that failed. */
export const EXIT_FAILURE = 1;
/** The call was denied. */
export const EXIT_DENIED = 2;
/** The tool answered with an error. */
export const EXIT_TOOL_ERROR = 3;
/** `handrail redact` has found secrets with `--explain` or `--report`. */
export const EXIT_SECRETS_FOUND = 4;
/** What was typed cannot be used; the number that `sysexits.h` has for it. */
export const EXIT_USAGE = 64;
/** Added to the number of the signal that ended a command. */
const EXIT_SIGNALLED = 128;

/** What each code means; docs/reference/commands.md shows these rows. */
export const EXIT_MEANINGS: readonly (readonly [code: string, meaning: string])[] = [
  [String(EXIT_OK), "done; the call succeeded"],
  [String(EXIT_FAILURE), "a configuration or state that cannot be used, or a check that failed"],
  [
    String(EXIT_DENIED),
    "the call was denied (`call`), or would be (`policy explain`); nothing was merged (`branches`)",
  ],
  [String(EXIT_TOOL_ERROR), "the tool failed (`call`), or the command (`run`)"],
  [String(EXIT_SECRETS_FOUND), "secrets were found (`redact --explain`, `redact --report`)"],
  [String(EXIT_USAGE), "what was typed cannot be used: an unknown command or option, an argument that does not fit"],
  [
    [exitOfSignal("SIGINT"), exitOfSignal("SIGTERM"), exitOfSignal("SIGHUP")].join(", "),
    "interrupted by SIGINT, SIGTERM or SIGHUP before anything was merged (`run`)",
  ],
];

/** The same as a shell says of a program that the signal ended. */
export function exitOfSignal(signal: NodeJS.Signals): number {
  return EXIT_SIGNALLED + constants.signals[signal];
}

/** The code of a command that an error ended. */
export function exitOfError(error: unknown): number {
  return error instanceof KernelError && error.code === "USAGE" ? EXIT_USAGE : EXIT_FAILURE;
}
