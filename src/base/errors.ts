/**
 * The two kinds of failure that are not a decision.
 *
 * `KernelError` is an operational failure with a frozen code and a message that is safe to show to any peer; its cause
 * is for logs alone. `assert` guards against bugs: a failed assertion also refuses the request that met it.
 * Expected outcomes (denied, expired, needs approval) are values, never exceptions.
 */

/** Frozen codes of operational failures inside the kernel. */
export type KernelErrorCode =
  | "INTERNAL"
  | "CONFIG_INVALID"
  | "POLICY_INVALID"
  | "WORKSPACE_INVALID"
  | "WORKSPACE_BUSY"
  | "STORE_UNAVAILABLE"
  | "STORE_CORRUPT"
  | "LEDGER_UNAVAILABLE"
  | "WIRE_INVALID"
  | "USAGE";

/** An operational failure: `message` is safe for any peer, `cause` stays in the kernel's logs. */
export class KernelError extends Error {
  readonly code: KernelErrorCode;
  constructor(code: KernelErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "KernelError";
    this.code = code;
  }
}

/** What is wrong with a file that a person wrote, and where. */
export interface FileProblem {
  readonly file: string;
  /** As it stands in the message of the error. */
  readonly message: string;
  /** Members and indexes that lead to the value; the last one may be a member that should not be there. */
  readonly at?: readonly (string | number)[];
  /** Line and column where they are known already; both start at 1. */
  readonly line?: number;
  readonly column?: number;
}

/** A file that a person wrote cannot be used; whoever shows that can show each place. */
export class FileError extends KernelError {
  readonly problems: readonly FileProblem[];
  constructor(message: string, problems: readonly FileProblem[], cause?: unknown) {
    super("CONFIG_INVALID", message, cause);
    this.problems = problems;
  }
}

/** Throws `KernelError(INTERNAL)` when `condition` does not hold: a bug, which refuses the request. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new KernelError("INTERNAL", message);
}

/** Marks the impossible branch of an exhaustive `switch`. */
export function unreachable(value: never): never {
  throw new KernelError("INTERNAL", `unreachable value ${JSON.stringify(value)}`);
}

/** The code of a failed system or database call. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
}

/** Whoever asked can put it right: the message says how. */
export function usageError(message: string, cause?: unknown): KernelError {
  return new KernelError("USAGE", message, cause);
}

/** What the operator wrote cannot be used. */
export function configInvalid(message: string, cause?: unknown): KernelError {
  return new KernelError("CONFIG_INVALID", message, cause);
}

/** The file `name` that the operator wrote cannot be used: each problem as `path.in.it: what`. */
export function fileInvalid(name: string, problems: readonly string[], cause?: unknown): FileError {
  const found = problems.map((message) => {
    const path = /^([\w.@-]+): /.exec(message)?.[1];
    return { file: name, message, ...(path !== undefined && { at: path.split(".") }) };
  });
  return new FileError(`\`${name}\`: ${problems.join("; ")}`, found, cause);
}

/** The state directory cannot be used now. */
export function storeUnavailable(message: string, cause?: unknown): KernelError {
  return new KernelError("STORE_UNAVAILABLE", message, cause);
}

/** What the state directory holds is damaged. */
export function storeCorrupt(message: string, cause?: unknown): KernelError {
  return new KernelError("STORE_CORRUPT", message, cause);
}

/** The ledger cannot be used now. */
export function ledgerUnavailable(message: string, cause?: unknown): KernelError {
  return new KernelError("LEDGER_UNAVAILABLE", message, cause);
}
