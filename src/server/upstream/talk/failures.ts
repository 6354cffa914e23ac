/** Words for what goes wrong with an upstream server, as its callers are told. */
import { SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { FailureWithoutEffect, ToolFailure } from "../../../model/outcome/failure.ts";

/** Characters of what a server says of its own failure. */
const SAID_CHARACTERS_MAX = 600;
const ADVICE = "do without it, or ask the operator to look at the server";

/** The failures of one server. */
export class UpstreamFailures {
  readonly #name: string;

  constructor(name: string) {
    this.#name = `the server \`${name}\``;
  }

  /** It gave no answer. */
  broken(why: string): ToolFailure {
    return new ToolFailure("IO_ERROR", `${this.#name} gave no answer: ${why}`, ADVICE);
  }

  /** It is not started again yet. */
  pausing(why: string, waitMs: number): ToolFailure {
    const retryAfterMs = Math.ceil(waitMs);
    return new FailureWithoutEffect("RESOURCE_BUSY", `${this.#name} failed: ${why}`, {
      suggestion: ADVICE,
      retryAfterMs,
    });
  }

  busy(): ToolFailure {
    return new FailureWithoutEffect("RESOURCE_BUSY", `too many calls wait for ${this.#name}`, "send fewer at once");
  }

  /** It took too long, and stopped when it was told to. */
  slow(): ToolFailure {
    const message = `${this.#name} did not answer in time, and was told to stop`;
    return new ToolFailure("IO_ERROR", message, "ask for less at once, or do without it");
  }

  /** It was ended with another call, which it did not end. */
  endedBesides(): ToolFailure {
    const message = `${this.#name} was ended, because it did not end another call that was cancelled`;
    return new ToolFailure("IO_ERROR", message, "look what it has done, then send it again");
  }

  /** The operator took it away while it was asked. */
  gone(): ToolFailure {
    return new FailureWithoutEffect(
      "NOT_SUPPORTED",
      `${this.#name} was changed or removed by the operator`,
      "list the tools again",
    );
  }

  /** What it says itself. */
  says(error: unknown): ToolFailure {
    if (SdkError.isInstance(error) && error.code === SdkErrorCode.UnsupportedResultType)
      return new FailureWithoutEffect(
        "NOT_SUPPORTED",
        `${this.#name} answers with a question (\`input_required\`), and nobody may answer it`,
        "do without this tool, or give it all that it needs in its arguments",
      );
    const message = error instanceof Error ? error.message : "unknown";
    return new ToolFailure("IO_ERROR", `${this.#name} says: ${message.slice(0, SAID_CHARACTERS_MAX)}`, "mend the call");
  }

  unusable(why: string): ToolFailure {
    return new FailureWithoutEffect("NOT_SUPPORTED", `${this.#name} cannot be used: ${why}`, ADVICE);
  }

  /** The tool is not the approved one. */
  isAnother(tool: string, isGone: boolean): ToolFailure {
    const how = isGone ? "no longer offers" : "has changed";
    return new FailureWithoutEffect(
      "NOT_SUPPORTED",
      `${this.#name} ${how} its tool \`${tool}\` since a person approved it`,
      "do without it; the operator sees the difference with `handrail upstream show`",
    );
  }
}

/** The call was cancelled by whoever made it. */
export function cancelled(): ToolFailure {
  return new ToolFailure("CANCELLED", "the call was cancelled", "send it again");
}

/** Whether an answer did not come in time. */
export function isTimeout(error: unknown): boolean {
  return SdkError.isInstance(error) && error.code === SdkErrorCode.RequestTimeout;
}

/** Whether the question which protocol the server speaks had no answer. */
export function isUndecided(error: unknown): boolean {
  return isTimeout(error) || (SdkError.isInstance(error) && error.code === SdkErrorCode.EraNegotiationFailed);
}
