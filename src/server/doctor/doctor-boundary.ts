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

/** The finding for the account `uid`, by the lines of `passwd`. */
export function boundaryFinding(uid: number | undefined, passwd: string = readAccounts()): Finding {
  const account = passwd
    .split("\n")
    .map((line) => line.split(":"))
    .find(([, , id]) => id === String(uid));
  const [name = "", , , , , , shell = ""] = account ?? [];
  if (uid !== undefined && uid !== 0 && NO_SHELLS.has(basename(shell)))
    return {
      check: CHECK,
      status: "ok",
      detail: `enforced: \`${name}\` is an account that nobody logs in to; agents of other users reach tools alone (\`handrail mcp --connect\`)`,
    };
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
