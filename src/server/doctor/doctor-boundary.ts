/**
 * Says whether the kernel runs apart from its agents: under an account in which nobody works.
 *
 * Whether agents run under yet another account cannot be seen from here, only that this one is for a service.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Finding } from "./finding.ts";

const CHECK = "boundary";
/** Shells of accounts that nobody logs in to. */
const NO_SHELLS: ReadonlySet<string> = new Set(["nologin", "false"]);

/** Accounts that hold nothing of their own: the administrator's, and `nobody`, which others run as, too. */
const NO_SERVICE: ReadonlySet<number> = new Set([0, 65_534]);

/**
 * The finding for the account `uid`, by the lines of `passwd`.
 * @param attended clients whose answers count as a person's
 */
export function boundaryFinding(
  uid: number | undefined,
  attended: readonly string[] = [],
  passwd: string = readAccounts(),
): Finding {
  const account = passwd
    .split("\n")
    .map((line) => line.split(":"))
    .find(([, , id]) => id === String(uid));
  const [name = "", , , , , , shell = ""] = account ?? [];
  if (uid !== undefined && !NO_SERVICE.has(uid) && NO_SHELLS.has(basename(shell))) {
    if (attended.length > 0)
      return {
        check: CHECK,
        status: "advisory",
        detail: `\`${name}\` is an account of its own, but any program of the agent's user can say that it is the attended client ${attended.join(", ")}, and approve its own calls`,
        fix: "take `approvals.attended_clients` out of the operator's settings, and answer with `handrail approvals`",
      };
    return {
      check: CHECK,
      status: "ok",
      detail: `enforced: \`${name}\` is an account that nobody logs in to; agents of other users reach tools alone (\`handrail mcp --connect\`)`,
    };
  }
  return {
    check: CHECK,
    status: "advisory",
    detail: "an agent that runs as your own user can go round Handrail unless its native tools are off",
    fix: "run `handrail serve` under another user to enforce it, and let the agent join it with `handrail mcp --connect`",
  };
}

function readAccounts(): string {
  try {
    return readFileSync("/etc/passwd", "utf8");
  } catch {
    return ""; // then nothing is known of the account, and the finding says the worse
  }
}
