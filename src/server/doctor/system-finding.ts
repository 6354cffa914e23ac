/**
 * Reports for `handrail doctor` on system tools.
 *
 * It checks whether the programs that the operator lists could be started.
 */
import { systemOf } from "../../config/sections/tools/system.ts";
import { listedPrograms } from "../../model/work/system.ts";
import { trustedProgram } from "../../sandbox/host-commands/trusted-program.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { type Finding, faultOf } from "./finding.ts";

/** Nothing where there are no system tools. */
export async function systemFindings({ settings: { system } }: OperatorDirectory): Promise<readonly Finding[]> {
  const check = "system tools";
  if (system === undefined) return [];
  const settings = systemOf(system);
  const ownUser = process.geteuid?.() ?? 0;
  const programs = listedPrograms(settings).map(({ program }) => program);
  const needsSudo = ownUser !== 0 && listedPrograms(settings).some(({ sudo }) => sudo);
  const wanted = new Set([...programs, ...(needsSudo && settings.sudo !== undefined ? [settings.sudo] : [])]);
  const problems = [...wanted].flatMap((program) => {
    const looked = trustedProgram(program, ownUser);
    return looked.ok ? [] : [`\`${program}\` ${looked.problem}`];
  });
  if (needsSudo && settings.sudo === undefined)
    problems.push(
      "the kernel is not root, and `system.sudo` is not set: programs that need root are refused; set `system.sudo`",
    );
  if (problems.length > 0)
    return problems.map((problem) =>
      faultOf(check, problem, "correct `system` in handrail.yaml, or install the program"),
    );
  const programsListed = `${wanted.size} program${wanted.size === 1 ? "" : "s"}`;
  return [{ check, status: "ok", detail: `${programsListed} may run outside of the sandbox, for the role sre` }];
}
