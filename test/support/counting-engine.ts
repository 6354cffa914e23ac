/**
 * A backtracking engine for the expressions of redaction rules that counts its steps: what V8's engine does, slowly and
 * observably. It is the oracle for the bound that is computed when a rule is loaded.
 */
import { hasCode } from "../../src/redact/expressions/character-set.ts";
import { type Node, parseExpression } from "../../src/redact/expressions/expression.ts";
import { costOf } from "../../src/redact/expressions/expression-cost.ts";

/** Where the match ends, `undefined` without one, and how many steps it took to know. */
export interface Counted {
  readonly end: number | undefined;
  readonly steps: number;
}

type Next = (at: number) => number | undefined;

/** Tries `source` at `start` of `text`. */
export function countSteps(source: string, caseInsensitive: boolean, text: string, start: number): Counted {
  const parsed = parseExpression(source, caseInsensitive);
  if (!parsed.ok) throw new Error(parsed.problem);
  const engine = new Engine(text);
  return { end: engine.run(parsed.tree, start, (at) => at), steps: engine.steps };
}

class Engine {
  steps = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  run(node: Node, at: number, next: Next): number | undefined {
    this.steps += 1;
    switch (node.kind) {
      case "character":
        return at < this.#text.length && hasCode(node.set, this.#text.charCodeAt(at)) ? next(at + 1) : undefined;
      case "capture":
        return this.run(node.body, at, next);
      case "edge":
        return (this.#isWord(at - 1) !== this.#isWord(at)) !== node.negative ? next(at) : undefined;
      case "look":
        return (node.behind ? this.#behind(node.body, at) : this.run(node.body, at, (end) => end) !== undefined) !==
          node.negative
          ? next(at)
          : undefined;
      case "choice":
        for (const option of node.options) {
          const end = this.run(option, at, next);
          if (end !== undefined) return end;
        }
        return undefined;
      case "sequence":
        return this.#sequence(node.parts, 0, at, next);
      case "repeat":
        return this.#repeat(node, 0, at, next);
    }
  }

  #sequence(parts: readonly Node[], index: number, at: number, next: Next): number | undefined {
    const part = parts[index];
    return part ? this.run(part, at, (end) => this.#sequence(parts, index + 1, end, next)) : next(at);
  }

  #repeat(node: Extract<Node, { kind: "repeat" }>, count: number, at: number, next: Next): number | undefined {
    const more = () =>
      count < node.max
        ? this.run(node.body, at, (end) => (end === at ? undefined : this.#repeat(node, count + 1, end, next)))
        : undefined;
    if (count < node.min) return more();
    return node.lazy ? (next(at) ?? more()) : (more() ?? next(at));
  }

  /** Tries every beginning from which the body could end here; look-behinds are short. */
  #behind(body: Node, at: number): boolean {
    const { lengthMax, behindMax } = costOf(body);
    for (let start = at; start >= 0 && at - start <= lengthMax + behindMax; start -= 1) {
      if (this.run(body, start, (end) => (end === at ? end : undefined)) !== undefined) return true;
    }
    return false;
  }

  #isWord(at: number): boolean {
    return /\w/.test(this.#text[at] ?? "");
  }
}
