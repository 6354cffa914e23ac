/** Says what a provider's answer means that is no completion, the same for every protocol. */
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { ModelProvider } from "../../../model/reach/models.ts";
import { visibleLine } from "../../../text/foreign-text.ts";

/** Characters that the agent is told of it. */
const REFUSAL_CHARACTERS_MAX = 500;
/** Milliseconds after which the agent may try again where the provider does not say. */
const RETRY_LATER_MS = 5000;

/** An answer that is none. */
export interface Refused {
  readonly status: number;
  readonly waitMs: number | undefined;
  readonly text: string;
}

/** Of these the provider itself says, or means, that a later try may do. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** Of these nobody counts tokens: the request was not taken. */
export function isRefusal(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408;
}

/** What the agent is told of an answer that is none. @param clean takes the provider's key out of its words */
export function refusedBy(
  { name }: Pick<ModelProvider, "name">,
  { status, waitMs, text }: Refused,
  clean: (words: string) => string,
): ToolFailure {
  const said = visibleLine(clean(saidBy(text)).slice(0, REFUSAL_CHARACTERS_MAX));
  const words = `\`${name}\` answers ${status}${said === "" ? "" : `: ${said}`}`;
  if (status === 429)
    return new ToolFailure("RATE_LIMITED", words, {
      suggestion: "wait, then try again, or ask another model",
      retryAfterMs: waitMs ?? RETRY_LATER_MS,
    });
  if (isTransient(status))
    return new ToolFailure("IO_ERROR", words, {
      suggestion: "try again later, or ask another provider",
      retryAfterMs: waitMs ?? RETRY_LATER_MS,
    });
  if (status === 401 || status === 403)
    return new ToolFailure(
      "PERMISSION_DENIED",
      words,
      "tell the operator: `handrail secrets check` says whether the key can be read",
    );
  if (status === 404) return new ToolFailure("NOT_SUPPORTED", words, "ask a model that the provider has");
  return new ToolFailure("IO_ERROR", words, "change the request as the provider says");
}

/** What a provider says of an error, where it can be read: at `error.message`, `error` or `message`. */
function saidBy(text: string): string {
  let said: unknown = text;
  try {
    const read = JSON.parse(text) as { readonly error?: unknown; readonly message?: unknown } | null;
    const { error = read, message = error } = read ?? {};
    said = typeof error === "object" && error !== null && "message" in error ? error.message : message;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return typeof said === "string" ? said.trim() : "";
}
