/**
 * Messages of commits: what may stand in one.
 *
 * INVARIANT: no line of a message says that a person wrote, signed or looked at something: whoever reads the history
 * could not tell it from what a person wrote.
 */
import { KIB } from "../../../base/bytes.ts";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { ToolContext } from "../../../model/tool/tool.ts";
import type { WholePattern } from "../../../names/whole-pattern.ts";

/** Characters of the first line of a message. */
const GIT_SUBJECT_CHARACTERS_MAX = 72;
/** Bytes of a message. */
const GIT_MESSAGE_LENGTH_MAX = 16 * KIB;

/** Trailers that speak for a person, as git compares them: without regard to case. */
const SPOKEN_FOR =
  /^[ \t]*((?:[a-z]+-)+by|(?:signed|reviewed|acked|approved|tested|authored|committed|reported|suggested|verified|requested|merged|released)[- ]by|(?:[a-z]+-)+with|on-behalf-of|handrail-[a-z-]+|change-id)[ \t]*:/im;

/** Why `message` is refused. */
export function messageProblem(message: string): string | undefined {
  if (message.trim() === "") return "the message is empty; say what the commit changes";
  if (Buffer.byteLength(message) > GIT_MESSAGE_LENGTH_MAX)
    return `the message has more than ${GIT_MESSAGE_LENGTH_MAX / 1024} KiB`;
  if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(message.replaceAll(/[\n\t]/g, "")))
    return "the message holds control characters or characters that are not seen; use plain text";
  const [subject = "", second] = message.trim().split("\n");
  if ([...subject].length > GIT_SUBJECT_CHARACTERS_MAX)
    return `the first line of the message has ${[...subject].length} characters; ${GIT_SUBJECT_CHARACTERS_MAX} are the most, the rest goes into further lines`;
  if (second !== undefined && second.trim() !== "")
    return "the second line of the message is not empty; leave it so, and put the rest below";
  const trailer = spokenFor(message);
  if (trailer !== undefined)
    return `the message says \`${trailer.slice(0, 40)}:\`, which speaks for somebody; who commits is recorded with the commit, and people sign for themselves`;
  return undefined;
}

/** The trailer of `message` that speaks for a person, however its letters, hyphens and spaces are written. */
export function spokenFor(message: string): string | undefined {
  const plain = message
    .normalize("NFKD")
    .replaceAll(/\p{Mn}/gu, "")
    .replaceAll(/[\p{Pd}_\u2212]/gu, "-")
    .replaceAll(/[^\S\n]/g, " ");
  return SPOKEN_FOR.exec(plain)?.[1];
}

/** Several `-m` make one message, each a paragraph. */
export function joinedMessage(parts: readonly string[]): string {
  return parts.join("\n\n");
}

/**
 * What is said of a message only while the call runs.
 * @param pattern what the operator wants of the first line
 * @throws ToolFailure PERMISSION_DENIED for one that holds a secret, or is not of that form
 */
export function requireFit(message: string, { hidden }: Pick<ToolContext, "hidden">, pattern?: WholePattern): void {
  if (hidden(Buffer.from(message)).length > 0)
    throw new FailureWithoutEffect(
      "PERMISSION_DENIED",
      "the message holds what looks like a secret, which everybody who gets the history would see",
      "say it without the secret",
    );
  const [subject = ""] = message.split("\n");
  if (pattern === undefined || pattern.matches(subject)) return;
  throw new FailureWithoutEffect(
    "PERMISSION_DENIED",
    "the first line of the message is not of the form that the operator wants",
    `make it match \`${pattern.source}\``,
  );
}
