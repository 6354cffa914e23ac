/** Reports for `handrail doctor` on the operator's secrets: whether each value can be read where it is kept. */
import type { Environment, OperatorDirectory } from "../operator/operator-directory.ts";
import { type Finding, faultOf } from "./finding.ts";

/** Nothing where the operator names no secrets. */
export async function secretFindings(
  operator: OperatorDirectory,
  environment: Environment,
): Promise<readonly Finding[]> {
  const check = "secrets";
  const names = Object.keys(operator.settings.secrets);
  if (names.length === 0) return [];
  const { secretsOf } = await import("../secrets/secret-values.ts");
  const { problems } = await secretsOf(operator, environment);
  if (problems.size === 0)
    return [{ check, status: "ok", detail: `${names.join(", ")}: each value can be read where it is kept` }];
  return [...problems].map(([name, problem]) =>
    faultOf(check, `\`${name}\`: ${problem}`, "mend that; until then requests with its placeholder fail"),
  );
}
