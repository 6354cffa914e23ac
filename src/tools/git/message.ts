/**
 * Messages of commits: what may stand in one.
 *
 * INVARIANT: no line of a message says that a person wrote, signed or looked at something: whoever reads the history could not tell it from what a
 * person wrote.
 */
import { GIT_MESSAGE_LENGTH_MAX, GIT_SUBJECT_CHARACTERS_MAX } from "../../base/limits.ts";

/** Trailers that speak for a person, as git compares them: without regard to case. */
const SPOKEN_FOR =
  /^[ \t]*((?:[a-z]+-)*(?:signed-off|signed|reviewed|acked|approved|tested|co-authored|authored|committed|co-developed|reported|suggested|verified|requested|merged|released)[- ]by|on-behalf-of|handrail-[a-z-]+|change-id)[ \t]*:/im;

/** Why `message` is refused. */
export function messageProblem(message: string): string | undefined {
  if (message.trim() === "") return "the message is empty; say what the commit changes";
  if (Buffer.byteLength(message) > GIT_MESSAGE_LENGTH_MAX) return `the message has more than ${GIT_MESSAGE_LENGTH_MAX / 1024} KiB`;
  if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(message.replaceAll(/[\n\t]/g, "")))
    return "the message holds control characters or characters that are not seen; use plain text";
  const [subject = "", second] = message.trim().split("\n");
  if ([...subject].length > GIT_SUBJECT_CHARACTERS_MAX)
    return `the first line of the message has ${[...subject].length} characters; ${GIT_SUBJECT_CHARACTERS_MAX} are the most, the rest goes into further lines`;
  if (second !== undefined && second.trim() !== "")
    return "the second line of the message is not empty; leave it so, and put the rest below";
  const trailer = SPOKEN_FOR.exec(message)?.[1];
  if (trailer !== undefined)
    return `the message says \`${trailer.slice(0, 40)}:\`, which speaks for somebody; who commits is recorded with the commit, and people sign for themselves`;
  return undefined;
}

/** Several `-m` make one message, each a paragraph. */
export function joinedMessage(parts: readonly string[]): string {
  return parts.join("\n\n");
}
