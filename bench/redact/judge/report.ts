/** The report of the judge: what was hidden, by class, context and format, worst first. */

const LISTED_MAX = 30;

/** A secret in its place. */
export interface Case {
  readonly class: string;
  readonly format: string;
  readonly context: string;
  readonly text: string;
  /** What must not be readable, as it is spelled there. */
  readonly parts: readonly string[];
}

/** How many cases of a group there were, and who hid how many. */
export interface Count {
  readonly title: string;
  cases: number;
  ours: number;
  theirs: number;
}

type By = "class" | "context" | "format";

/** Counts. */
export class Tally {
  readonly #counts: Readonly<Record<By, Map<string, Count>>> = {
    class: new Map(),
    context: new Map(),
    format: new Map(),
  };
  readonly #false = new Map<string, number>();

  /** Counts a case. */
  add(sample: Case, ours: boolean, theirs: boolean): void {
    for (const by of ["class", "context", "format"] as const) {
      const title = sample[by];
      const count = this.#counts[by].get(title) ?? { title, cases: 0, ours: 0, theirs: 0 };
      count.cases += 1;
      count.ours += Number(ours);
      count.theirs += Number(theirs);
      this.#counts[by].set(title, count);
    }
  }

  /** Counts a finding where there is no secret. */
  addFalse(title: string, what: string): void {
    const line = `${title}: ${what}`;
    this.#false.set(line, (this.#false.get(line) ?? 0) + 1);
  }

  /** The classes. */
  classes(): readonly Count[] {
    return [...this.#counts.class.values()];
  }

  /** Lines for a person. */
  report(): string {
    const lists = (["class", "context", "format"] as const).map((by) => this.#list(by));
    const falseOnes = [...this.#false].map(([line, count]) => `  ${count}  ${line}\n`);
    return `${lists.join("")}false findings: ${falseOnes.length === 0 ? "none" : ""}\n${falseOnes.join("")}`;
  }

  #list(by: By): string {
    const share = ({ ours, cases }: Count) => ours / cases;
    const worst = [...this.#counts[by].values()]
      .filter((count) => count.ours < count.cases)
      .sort((left, right) => share(left) - share(right) || right.cases - left.cases);
    const lines = worst.slice(0, LISTED_MAX).map((count) => {
      const { title, ours, theirs, cases } = count;
      const percent = (100 * share(count)).toFixed(1).padStart(5);
      return `  ${percent} %  ${title} (${ours} of ${cases}; secretlint ${theirs})\n`;
    });
    return `by ${by}, worst first: ${worst.length} of ${this.#counts[by].size} not wholly hidden\n${lines.join("")}`;
  }
}
