/**
 * Gives a server's process the secrets that the operator named for it, and takes them out of what it says.
 *
 * INVARIANT: a value stands in the environment of the process alone: what the process says of it comes out as the
 * placeholder, also where it is said in a tool's description, in an error or in pieces.
 */
import { placeholdersFor } from "../../../sandbox/net/broker/broker.ts";
import { type Replacements, Scrubber } from "../../../sandbox/net/broker/scrub.ts";
import type { RunOutput } from "../../../sandbox/run/launch.ts";
import type { UpstreamRecord } from "../records/pins.ts";
import { secretOf, type UpstreamMeans } from "./means.ts";

/** The secrets of one process. */
export interface GivenSecrets {
  /** With the values. */
  readonly environment: Readonly<Record<string, string>>;
  /** The same output without the values. */
  readonly without: (output: RunOutput) => RunOutput;
}

/** Reads the values as they are now. @throws ToolFailure PERMISSION_DENIED where one cannot be read */
export async function givenSecrets(
  { secrets = {} }: Pick<UpstreamRecord, "secrets">,
  { broker }: Pick<UpstreamMeans, "broker">,
): Promise<GivenSecrets> {
  const wanted = Object.entries(secrets);
  if (wanted.length === 0) return { environment: {}, without: (output) => output };
  const known = await broker();
  const read = wanted.map(([variable, name]) => ({ variable, secret: secretOf(known, name) }));
  const replacements = placeholdersFor(read.map(({ secret }) => secret));
  return {
    environment: Object.fromEntries(read.map(({ variable, secret }) => [variable, secret.value])),
    without: ({ stdout, stderr }) => ({
      stdout: scrubbed(replacements, stdout),
      stderr: scrubbed(replacements, stderr),
    }),
  };
}

const LINE_FEED = 10;

function scrubbed(replacements: Replacements | undefined, take: RunOutput["stdout"]): RunOutput["stdout"] {
  if (replacements === undefined) return take;
  const scrubber = new Scrubber(replacements);
  return (piece) => {
    const seen = scrubber.push(piece);
    if (seen.length > 0) take(seen);
    // a message ends with its line, and no value goes on behind that
    if (piece.at(-1) !== LINE_FEED) return;
    const rest = scrubber.flush();
    if (rest.length > 0) take(rest);
  };
}
