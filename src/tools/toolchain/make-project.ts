/** Projects with a makefile that has a target `test` or `lint`. */
import type { ProjectFileName } from "../../model/work/toolchain.ts";
import type { ProjectKind } from "./project.ts";

/** In the order in which make looks for them. */
const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"] as const satisfies readonly ProjectFileName[];

/** `make test` and `make lint`. */
export const makeProject: ProjectKind = (files, purpose) => {
  const name = MAKEFILES.find((one) => files[one] !== undefined);
  const file = name === undefined ? undefined : files[name];
  if (name === undefined || file === undefined) return undefined;
  if (file.text === undefined) return { kind: "unusable", file: name, problem: file.problem ?? "cannot be read" };
  const words = recipesOf(file.text, purpose);
  if (words === "") return undefined;
  return {
    kind: "command",
    runner: "make",
    from: [name],
    words,
    commandFor: (target) =>
      target === undefined ? ["make", purpose] : `\`make ${purpose}\` always looks at everything; leave the target out`,
  };
};

/** The rules that make `goal`, with their recipes, as they stand. */
function recipesOf(text: string, goal: string): string {
  let isInside = false;
  const lines = text.split("\n").filter((line) => {
    isInside = isRule(line, goal) || (isInside && (line.startsWith("\t") || line.trim() === ""));
    return isInside;
  });
  return lines.join("\n").trimEnd();
}

/** Whether a line says how `goal` is made: `goal: …`, perhaps with other goals, and no assignment. */
function isRule(line: string, goal: string): boolean {
  if (line.startsWith("\t") || line.startsWith("#")) return false;
  const colon = line.indexOf(":");
  if (colon === -1 || line.slice(0, colon).includes("=")) return false;
  return !/^::?:?=/.test(line.slice(colon)) && line.slice(0, colon).trim().split(/\s+/).includes(goal);
}
