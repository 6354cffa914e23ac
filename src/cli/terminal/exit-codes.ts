/** Exit codes of `handrail`; part of its interface. */

/** It worked; a call succeeded; the ledger is intact. */
export const EXIT_OK = 0;
/** It did not work: bad usage, bad configuration, a damaged ledger. */
export const EXIT_FAILURE = 1;
/** The call was denied. */
export const EXIT_DENIED = 2;
/** The tool answered with an error. */
export const EXIT_TOOL_ERROR = 3;
/** `handrail redact --explain` has found secrets. */
export const EXIT_SECRETS_FOUND = 4;
