/**
 * Judges a call by what the workspace says of itself besides zones: the only programs that may run there, and how far
 * searches go.
 *
 * INVARIANT: it only takes away. A call that runs something and does not name it is refused where programs are listed.
 */
import type { Denial } from "../../model/outcome/decision.ts";
import type { Access } from "../../model/place/access.ts";
import { wordsOfCommand } from "../../model/place/command.ts";
import type { IsolationLevel } from "../../model/place/workspace.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { Caller, Judged } from "../call/stages.ts";

/** The rule that refuses, and the file that it stands in. */
const RULE = "WORKSPACE:.flow/config.json";
const LIST = "`tools.whitelisted_binaries` of the workspace's `.flow/config.json`";
/** Characters of a program's name that a refusal repeats. */
const NAME_CHARACTERS_MAX = 256;

/** Why the workspace does not let the call run what it names. */
export function checkPrograms(
  { place: { commands } }: Pick<Judged, "place">,
  { capability }: Pick<Tool, "capability">,
  accesses: readonly Access[],
): Denial | undefined {
  if (commands === undefined) return undefined;
  let isNamed = false;
  for (const { resource } of accesses) {
    if (resource.kind !== "command") continue;
    isNamed = true;
    if (commands.has(resource.binary)) continue;
    const name = resource.binary.slice(0, NAME_CHARACTERS_MAX).toWellFormed();
    const message = `\`${name}\` is not among ${LIST}; use a program that it lists`;
    return { ...denialOf(message), fix: `\`${name}\` among ${LIST}`, command: wordsOfCommand(resource) };
  }
  // What git does stands in its operation, and is judged by that.
  const isGit = accesses.some(({ resource }) => resource.kind === "git_ref");
  if (capability.effect !== "exec" || isNamed || isGit) return undefined;
  return denialOf(`${LIST} restricts programs, and the call does not say which one it runs; use a tool that does`);
}

function denialOf(message: string): Denial {
  return { layer: "scope", reason: "command_not_listed", ruleId: RULE, message };
}

/** The commands that both leave: a lease's, of which `*` is any, and the workspace's. */
export function commandsLeft(ofLease: readonly string[], ofPlace: ReadonlySet<string> | undefined): readonly string[] {
  if (ofPlace === undefined) return ofLease;
  return ofLease.includes("*") ? [...ofPlace].sort() : ofLease.filter((name) => ofPlace.has(name));
}

/** Whether shared places take part in searches: as the session says, and the workspace's word can only narrow that. */
export function isolationOf({ session, place }: Pick<Caller, "session" | "place">): IsolationLevel {
  return place.isStrict ? "STRICT" : session.isolationLevel;
}
