/**
 * Defines the reports that a running tool may make before its result.
 *
 * They say how far it is, and what a process that it runs has written. Reports are a courtesy: they are bounded,
 * redacted and may be dropped, so nothing may depend on them.
 */

/** One report of a running tool. */
export type ProgressReport =
  | {
      readonly kind: "progress";
      /** Units of work done, finite and not negative. */
      readonly completed: number;
      /** Units of work in all, when known. */
      readonly total?: number;
      /** For people. */
      readonly message?: string;
    }
  | { readonly kind: "output"; readonly stream: "stdout" | "stderr"; readonly bytes: Uint8Array };

/**
 * Who wants the reports of a call. Called at once and never waited for; it keeps what it needs within bounds of its
 * own.
 */
export type ProgressListener = (report: ProgressReport) => void;
