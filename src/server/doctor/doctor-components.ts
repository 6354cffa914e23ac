/** Says which WebAssembly components a kernel would load, and why it would refuse the others. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ownTools } from "../operator/built-in-tools.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { adviceIn, attemptMany, type Finding, type Found } from "./finding.ts";

/** One finding for each component; they are loaded as a kernel loads them, and ended again. */
export function componentFindings({ path, settings }: OperatorDirectory): Promise<readonly Finding[]> {
  const directory = join(path, "components");
  const fix = "mend the file or remove it; `handrail doctor` looks at it again";
  return attemptMany({ check: "components", fix, directory }, async () => {
    if (!existsSync(directory)) return missing(settings.components);
    const { ComponentFolder } = await import("../components/component-folder.ts");
    const folder = new ComponentFolder(directory);
    const own = new Set(ownTools(settings).map(({ name }) => name));
    const plan = await folder.plan(settings.components, (name) => own.has(name));
    plan.commit();
    folder.close();
    const loaded = plan.loaded.map(({ one: { file, tool, digest } }): Found => {
      return { status: "ok", detail: `\`${file}\` is the tool \`${tool.name}\`, blake3:${digest}` };
    });
    const refused = plan.refused.map(({ file, problem }): Found => {
      const { detail, fix: advice } = adviceIn(problem, fix);
      return { status: "failed", detail: `\`${file}\` is no tool: ${detail}`, fix: advice };
    });
    const found = [...loaded, ...refused];
    return found.length === 0 ? missing(settings.components) : found;
  });
}

/** Without files, settings of components say nothing. */
function missing(settings: OperatorDirectory["settings"]["components"]): string | readonly Found[] {
  const names = Object.keys(settings);
  if (names.length === 0) return "there are none";
  const detail = `handrail.yaml names ${names.map((name) => `\`${name}\``).join(", ")}, and \`components/\` holds no file`;
  return [{ status: "failed", detail, fix: "put the files there, or remove the entries" }];
}
