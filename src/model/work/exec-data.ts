/**
 * Describes a command's effects besides its output as data of a result.
 *
 * The data and their schema are the same for every tool that runs commands.
 */
import type { JsonObject } from "../../base/json.ts";

import { type ExecLanded, type ExecOutcome, NOT_KEPT_REASONS } from "./exec.ts";

/** Names in one list of an answer: of changes that were not kept, which are all counted, and of repositories. */
const NAMES_SHOWN_MAX = 100;
/** Characters (UTF-16 code units) of those names: an answer holds them beside 100,000 characters of output. */
const NAMES_CHARACTERS_MAX = 20_000;

/** Properties of the output schema of a tool that runs commands. */
export const EXEC_DATA_PROPERTIES = {
  files: {
    type: "object",
    description:
      "How many files, directories and links of the workspace the command created, changed and removed; absent when none.",
    properties: Object.fromEntries(["created", "changed", "removed"].map((name) => [name, { type: "integer" }])),
  },
  not_kept: {
    type: "array",
    description:
      "Changes of the command that were not kept. `not_allowed`: write such files with the file tools, which ask; `not_approved`: a person was asked and did not agree; `changed_meanwhile`: somebody else did, run the command again.",
    items: { type: "object", properties: { path: { type: "string" }, reason: { enum: [...NOT_KEPT_REASONS] } } },
  },
  not_kept_count: { type: "integer", description: "How many were not kept, where not all of them are named." },
  hidden_repositories: {
    type: "array",
    description:
      "Directories whose `.git` the command did not see, because the history holds secret files or could not be looked through; use the git tools.",
    items: { type: "string" },
  },
  network: {
    type: "object",
    description:
      "What the command tried to reach, where it had a way to the network; the first attempts that were refused or failed are named.",
    properties: {
      ...Object.fromEntries(
        ["allowed", "refused", "failed", "bytes_out", "bytes_in"].map((name) => [name, { type: "integer" }]),
      ),
      problems: {
        type: "array",
        items: {
          type: "object",
          properties: { host: { type: "string" }, port: { type: "integer" }, reason: { type: "string" } },
        },
      },
    },
  },
} as const satisfies JsonObject;

/** Those properties of `outcome` that there is something to say of. */
export function execData({
  landed,
  hiddenRepositories = [],
  network,
}: Pick<ExecOutcome, "landed" | "hiddenRepositories" | "network">): JsonObject {
  return {
    ...(landed && landedData(landed)),
    ...(hiddenRepositories.length > 0 && { hidden_repositories: [...firstOf(hiddenRepositories, (path) => path)] }),
    ...(network && {
      network: {
        allowed: network.allowed,
        refused: network.refused,
        failed: network.failed,
        bytes_out: network.bytesOut,
        bytes_in: network.bytesIn,
        ...(network.problems.length > 0 && { problems: network.problems.map((problem) => ({ ...problem })) }),
      },
    }),
  };
}

/** The first items, as far as there is room for their names. */
function firstOf<T>(items: readonly T[], nameOf: (item: T) => string): readonly T[] {
  let room = NAMES_CHARACTERS_MAX;
  const end = items.slice(0, NAMES_SHOWN_MAX).findIndex((item) => {
    room -= nameOf(item).length;
    return room < 0;
  });
  return items.slice(0, end < 0 ? NAMES_SHOWN_MAX : end);
}

function landedData({ created, changed, removed, notKept }: ExecLanded): JsonObject {
  const named = firstOf(notKept, ({ path }) => path);
  return {
    ...(created + changed + removed > 0 && { files: { created, changed, removed } }),
    ...(notKept.length > 0 && { not_kept: named.map(({ path, reason }) => ({ path, reason })) }),
    ...(notKept.length > named.length && { not_kept_count: notKept.length }),
  };
}
