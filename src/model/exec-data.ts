/** What came of a command beside its output, as data of a result: the same for every tool that runs commands. */
import type { JsonObject } from "../base/json.ts";
import type { ExecOutcome } from "./exec.ts";

/** Properties of the output schema of a tool that runs commands. */
export const EXEC_DATA_PROPERTIES = {
  put_aside: {
    type: "array",
    description:
      "What the command made under names that are not its to make, and where that is now; write such files with the file tools, which ask.",
    items: { type: "object", properties: { path: { type: "string" }, now: { type: "string" } } },
  },
  put_back: {
    type: "array",
    description: "Links that were not the command's to remove or replace; they are there again.",
    items: { type: "string" },
  },
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
      ...Object.fromEntries(["allowed", "refused", "failed", "bytes_out", "bytes_in"].map((name) => [name, { type: "integer" }])),
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
  putAside,
  putBack = [],
  hiddenRepositories = [],
  network,
}: Pick<ExecOutcome, "putAside" | "putBack" | "hiddenRepositories" | "network">): JsonObject {
  return {
    ...(putAside.length > 0 && { put_aside: putAside.map(({ path, now }) => ({ path, now })) }),
    ...(putBack.length > 0 && { put_back: [...putBack] }),
    ...(hiddenRepositories.length > 0 && { hidden_repositories: [...hiddenRepositories] }),
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
