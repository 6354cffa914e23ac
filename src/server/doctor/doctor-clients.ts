/** Reports for `handrail doctor` on the clients that were set up: whether Handrail is their only way to the machine. */
import { homedir } from "node:os";
import { readRecord } from "../clients/record.ts";
import { clientState } from "../clients/state.ts";
import type { Environment } from "../operator/operator-directory.ts";
import { attempt, attemptMany, type Finding, type Found } from "./finding.ts";

/** A finding for each client; none where none was set up. */
export async function clientFindings(operatorPath: string, environment: Environment): Promise<readonly Finding[]> {
  const fix = "mend the file, or set the client up again";
  const records = await readRecord(operatorPath).catch((error: unknown) => error as Error);
  if (records instanceof Error) return [await attempt("clients", fix, () => Promise.reject(records))];
  const home = environment["HOME"] || homedir();
  const findings = await Promise.all(
    records.map((record) =>
      attemptMany({ check: `client ${record.client}`, fix, directory: operatorPath }, async () => {
        const state = await clientState(record, environment, home);
        if (state === undefined) return [unknownClient(record.client)];
        const where = state.scope === "user" ? "for its user" : `in \`${state.workspace}\``;
        const again = `handrail setup ${state.client}${state.scope === "user" ? "" : ` --workspace ${state.workspace}`}`;
        if (state.missing.length > 0) {
          const detail = `${state.title} was set up ${where}, and is not any more: ${state.missing.join(", ")}`;
          return [{ status: "failed", detail, fix: `\`${again}\`` }];
        }
        const ways = [
          ...(state.wayRound === undefined ? [] : [state.wayRound]),
          ...(state.ungoverned.length === 0 ? [] : [`it starts servers of its own: ${state.ungoverned.join(", ")}`]),
        ];
        const detail = `${state.title} ${where} starts Handrail, and its own tools are off`;
        if (ways.length === 0) return detail;
        const advice = "use another client, or run the agent where Handrail is its only way to the machine";
        return ways.map(
          (way): Found => ({ status: "advisory", detail: `${state.title} ${where}: ${way}`, fix: advice }),
        );
      }),
    ),
  );
  return findings.flat();
}

function unknownClient(name: string): Found {
  return {
    status: "advisory",
    detail: `\`${name}\` was set up by another version, which knew more clients`,
    fix: "upgrade Handrail",
  };
}
