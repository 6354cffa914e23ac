/** Says what went wrong with a request that has no answer, as the agent is told of it. */
import { FailureWithoutEffect, ToolFailure, UnansweredFailure } from "../../../model/outcome/failure.ts";
import type { Attempt, EgressReason } from "../gate/attempt.ts";
import { UnreadableBody } from "./body.ts";
import { NoConnection } from "./connections.ts";
import { SecretMisplaced } from "./hop-secrets.ts";

/** How a request ended without an answer. */
export interface Unanswered {
  readonly attempt: Attempt;
  /** Whom it was sent to. */
  readonly host: string;
  /** No answer has led here. */
  readonly isFirst: boolean;
  readonly isLate: boolean;
  readonly isCancelled: boolean;
}

/** What went wrong, as the agent is told of it; the attempt ends by it. */
export function requestFailure(error: unknown, { attempt, host, isFirst, isLate, isCancelled }: Unanswered): unknown {
  const end = (reason: EgressReason, failure: ToolFailure) => {
    attempt.end("failed", reason);
    return failure;
  };
  if (error instanceof SecretMisplaced) {
    const isMisplaced = error.problem.kind === "mismatch";
    attempt.end(isMisplaced ? "refused" : "failed", isMisplaced ? "secret_binding" : "secret_unavailable");
    return error;
  }
  if (isCancelled) return end("closed", new ToolFailure("CANCELLED", "the call was cancelled", "nothing more is sent"));
  if (isLate)
    return end(
      "timeout",
      new ToolFailure("TIMEOUT", `\`${host}\` did not answer in time`, {
        suggestion: "try again, or give more time by `timeout_ms`",
        retryAfterMs: 1000,
      }),
    );
  if (error instanceof NoConnection) {
    const { outcome, reason, message, address } = error.refusal;
    attempt.end(outcome, reason, address === undefined ? {} : { address });
    const [what = "", advice = "try again in a moment"] = message.split(/; (.*)/s);
    // after a redirect the name is one that a server gave
    const Kind = isFirst ? UnansweredFailure : FailureWithoutEffect;
    return outcome === "refused"
      ? new Kind(
          "PERMISSION_DENIED",
          what.replaceAll("nothing in the sandbox", "no tool"),
          "use a host of the internet, or ask the operator to name this one in `web.private_hosts`",
        )
      : new Kind("IO_ERROR", what, { suggestion: advice, retryAfterMs: 1000 });
  }
  if (error instanceof UnreadableBody)
    return end(
      error.reason === "ratio" ? "too_many_bytes" : "malformed",
      new ToolFailure("IO_ERROR", error.message, "use another source"),
    );
  const isParser = error instanceof Error && error.name === "HTTPParserError";
  const code = isParser ? "HPE_INVALID" : error instanceof Error && "code" in error ? String(error.code) : "";
  if (!code.startsWith("UND_ERR") && !code.startsWith("HPE_") && !/^E[A-Z]+$/.test(code)) {
    attempt.end("failed", "fault");
    return error;
  }
  const isBent = code.startsWith("HPE_") || /OVERFLOW|CONTENT_LENGTH|INVALID/.test(code);
  return end(
    isBent ? "malformed" : "no_answer",
    new ToolFailure(
      "IO_ERROR",
      isBent
        ? `the answer of \`${host}\` is no proper HTTP (${code})`
        : `\`${host}\` broke off the connection (${code})`,
      { suggestion: "try again in a moment", retryAfterMs: 1000 },
    ),
  );
}
