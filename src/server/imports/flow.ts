/** Imports Flow's `.flow/config.json`: scope becomes zones, programs a policy that forbids all others. */
import { stringify } from "yaml";
import * as z from "zod";
import { fileInvalid } from "../../base/errors.ts";
import { jsonOf } from "../../config/files/gate-file.ts";
import { allowOnly } from "./command-rules.ts";
import type { Imported, ImportedFile, LeftOut } from "./imported.ts";

const texts = z.array(z.string().min(1).max(1000)).max(1000);
const shape = z.object({
  scope: z
    .object({
      service_isolation: z.enum(["STRICT", "SHARED"]).optional(),
      shared_paths: texts.optional(),
      block_patterns: texts.optional(),
    })
    .loose()
    .default({}),
  tools: z
    .object({ allow_legacy_run_command: z.boolean().optional(), whitelisted_binaries: texts.optional() })
    .loose()
    .default({}),
  secrets: z.object({ redact_patterns: texts.optional() }).loose().default({}),
});
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  scope: ["service_isolation", "shared_paths", "block_patterns"],
  tools: ["allow_legacy_run_command", "whitelisted_binaries"],
  secrets: ["redact_patterns"],
};
/** `sk-...`: a beginning, and whatever follows it. */
const WILDCARD = /^([A-Za-z0-9_-]{2,32})(?:\.\.\.|…|\*)$/;
/** Characters of what follows, at least and at most. */
const TOKEN_LEAST = 16;
const TOKEN_MOST = 256;

/** What the text of the file `name` becomes. @throws KernelError CONFIG_INVALID saying where it is wrong */
export function importFlow(text: string, name: string): Imported {
  const value = jsonOf(text, name);
  const parsed = shape.loose().safeParse(value);
  if (!parsed.success)
    throw fileInvalid(
      name,
      parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`),
    );
  const { scope, tools, secrets } = parsed.data;
  const left: LeftOut[] = unknownKeys(parsed.data);
  const files: ImportedFile[] = [];
  if (tools.whitelisted_binaries !== undefined) {
    const list = { where: "tools.whitelisted_binaries", entries: tools.whitelisted_binaries };
    const { text: policy, left: missing } = allowOnly("imported.flow-binaries", list);
    left.push(...missing);
    files.push({ path: "policy/imported-flow.cedar", text: `// Imported from Flow's configuration.\n\n${policy}` });
  }
  if (tools.allow_legacy_run_command === true)
    left.push({ where: "tools.allow_legacy_run_command", why: "`run_command` does not exist here, and is never made" });
  const rules = (secrets.redact_patterns ?? []).flatMap((pattern, index) => {
    const start = WILDCARD.exec(pattern)?.[1];
    if (start !== undefined) return [ruleOf(start)];
    left.push({
      where: `secrets.redact_patterns[${index}]`,
      why: "is no beginning with `...`; write a rule of your own",
    });
    return [];
  });
  const settings = {
    ...((scope.block_patterns ?? scope.shared_paths) !== undefined && {
      files: {
        ...(scope.block_patterns !== undefined && { secret: scope.block_patterns.map(globOf) }),
        ...(scope.shared_paths !== undefined && { shared: scope.shared_paths.map((path) => path.replace(/\/+$/, "")) }),
      },
    }),
    ...(rules.length > 0 && { redaction: { rules } }),
  };
  if (Object.keys(settings).length > 0)
    files.unshift({ path: "handrail.yaml", text: `# Imported from Flow's configuration.\n${stringify(settings)}` });
  if (scope.service_isolation === "SHARED")
    left.push({
      where: "scope.service_isolation",
      why: "is said for each workspace: `isolation: SHARED` under `workspaces` in handrail.yaml",
    });
  return { files, left };
}

/** A directory stands for everything in it. */
function globOf(pattern: string): string {
  return pattern.endsWith("/") ? `${pattern}**` : pattern;
}

function ruleOf(start: string) {
  return {
    id: `imported-${start
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "")}`,
    keywords: [start],
    expression: `${start}[A-Za-z0-9_-]{${TOKEN_LEAST},${TOKEN_MOST}}`,
    examples: { secret: [`${start}${"Ab3dE6gH".repeat(3)}`] },
  };
}

function unknownKeys(value: Readonly<Record<string, unknown>>): LeftOut[] {
  return Object.entries(value).flatMap(([section, members]) => {
    const known = KNOWN[section];
    if (known === undefined) return [{ where: section, why: "is no key that Handrail knows" }];
    return Object.keys(members as object)
      .filter((key) => !known.includes(key))
      .map((key) => ({ where: `${section}.${key}`, why: "is no key that Handrail knows" }));
  });
}
