/** Projects with a makefile that has a target `test` or `lint`. */
import type { ProjectFileName } from "../../model/toolchain.ts";
import type { ProjectKind } from "./project.ts";

/** In the order in which make looks for them. */
const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"] as const satisfies readonly ProjectFileName[];

/** `make test` and `make lint`. */
export const makeProject: ProjectKind = (files, purpose) => {
  const name = MAKEFILES.find((one) => files[one] !== undefined);
  const file = name === undefined ? undefined : files[name];
  if (name === undefined || file === undefined) return undefined;
  if (file.text === undefined) return { kind: "unusable", file: name, problem: file.problem ?? "cannot be read" };
  if (!file.text.split("\n").some((line) => isRule(line, purpose))) return undefined;
  return {
    kind: "command",
    runner: "make",
    from: [name],
    commandFor: (target) =>
      target === undefined ? ["make", purpose] : `\`make ${purpose}\` always looks at everything; leave the target out`,
  };
};

/** Whether a line says how `goal` is made: `goal: …`, perhaps with other goals, and no assignment. */
function isRule(line: string, goal: string): boolean {
  if (line.startsWith("\t") || line.startsWith("#")) return false;
  const colon = line.indexOf(":");
  if (colon === -1 || line.slice(0, colon).includes("=")) return false;
  return !/^::?:?=/.test(line.slice(colon)) && line.slice(0, colon).trim().split(/\s+/).includes(goal);
}
