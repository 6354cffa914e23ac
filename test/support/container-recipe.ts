/** Reads a container recipe: its instructions in order, with continued lines joined. */

/** One instruction: `RUN`, `ENV` …, and what stands behind it. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of a recipe. @throws for a line that is none */
export function readRecipe(recipe: string): readonly Instruction[] {
  const lines = recipe
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => {
    const [, name, text] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (name === undefined || text === undefined) throw new Error(`\`${line}\` is no instruction`);
    return { name, text };
  });
}

/** What the `ENV` instructions set. */
export function environmentIn(recipe: readonly Instruction[]): Readonly<Record<string, string>> {
  const set = recipe.filter(({ name }) => name === "ENV").flatMap(({ text }) => text.split(/\s+/));
  return Object.fromEntries(set.map((one) => one.split("=", 2) as [string, string]));
}

/** The words of the last instruction `name` that is written as a list. */
export function wordsOf(recipe: readonly Instruction[], name: string): readonly string[] {
  const found = recipe.findLast((instruction) => instruction.name === name);
  return JSON.parse(found?.text ?? "[]") as readonly string[];
}
