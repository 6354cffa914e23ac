/**
 * Reports for `handrail doctor` on git's remotes.
 *
 * It checks whether credentials and authorities can be used, and tells what is opened beside the internet.
 */
import { X509Certificate } from "node:crypto";
import { systemClock } from "../../base/clock.ts";
import { privateGitHosts } from "../../config/sections/tools/git.ts";
import type { Environment, OperatorDirectory } from "../operator/operator-directory.ts";
import { certificatesIn, gitRemotesOf } from "../secrets/git-remotes.ts";
import { type Finding, faultOf } from "./finding.ts";

/** Nothing where the operator says nothing of remotes. */
export async function gitFindings(operator: OperatorDirectory, environment: Environment): Promise<readonly Finding[]> {
  const check = "git remotes";
  const { credentials, certificate_authorities: file, private_hosts: _, ...rest } = operator.settings.git;
  const hosts = privateGitHosts(operator.settings.git);
  if (credentials.length + hosts.length === 0 && file === undefined) return [];
  const named = credentials.some(({ password }) => "secret" in password);
  const { broker } = named ? await (await import("../secrets/secret-values.ts")).secretsOf(operator, environment) : {};
  const { problems, remotes } = gitRemotesOf(operator, environment, broker);
  const expired = file === undefined || problems.length > 0 ? [] : expiredIn(file, remotes.authorities() ?? "");
  const all = [...problems, ...expired];
  if (all.length > 0)
    return all.map((problem) =>
      faultOf(check, `${problem}`, "correct `git` in handrail.yaml; calls that need it are refused"),
    );
  const { received_mb: received, written_mb: written } = rest.limits;
  const detail = [
    `${credentials.length} credential${credentials.length === 1 ? "" : "s"} can be read`,
    ...(file === undefined ? [] : [`the certificates in \`${file}\` are believed`]),
    `an operation may receive ${received} MiB and write ${written} MiB`,
    ...(hosts.length === 0
      ? []
      : [`git may reach ${hosts.map((host) => `\`${host}\``).join(", ")} at private addresses`]),
  ];
  const found = { check, detail: detail.join("; ") };
  if (hosts.length === 0) return [{ ...found, status: "ok" }];
  return [{ ...found, status: "advisory", fix: "remove `git.private_hosts` unless they are meant" }];
}

/** Certificates that nobody can be believed by. */
function expiredIn(file: string, text: string): readonly string[] {
  const now = systemClock.nowMs();
  const isOver = (certificate: X509Certificate) => certificate.validToDate.getTime() < now;
  const all = certificatesIn(text).map((pem) => new X509Certificate(pem));
  return all.every(isOver) ? [`every certificate in \`${file}\` has expired; put the authorities' new ones there`] : [];
}
