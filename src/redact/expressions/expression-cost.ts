/**
 * Computes an upper bound of the cost of one attempt to match an expression.
 *
 * The bound is computed at load, so that a rule that could be slow is refused before any text is seen.
 *
 * A backtracking engine tries, for each way in which a part can match, everything after it. Ways multiply, unless what
 * follows cannot begin with what the part repeats. In that case giving a repetition back fails at once.
 *
 * INVARIANT: `steps` is an upper bound of the steps of one attempt. Tests compare it with an engine that counts.
 */
import { addAll, type CharacterSet, overlap } from "./character-set.ts";
import { ANYTHING, firstOf, type Node } from "./expression.ts";

/** Bounds of one attempt. */
export interface Cost {
  /** Steps of the engine. */
  readonly steps: number;
  /** Characters that a match may have, look-ahead included. */
  readonly lengthMax: number;
  readonly lengthMin: number;
  /** Characters before the start that look-behind sees. */
  readonly behindMax: number;
}

/** Bounds for a whole expression. */
export function costOf(tree: Node): Cost {
  const { steps, lengthMax, lengthMin, behindMax } = measure(tree, { set: ANYTHING, free: true });
  return { steps, lengthMax, lengthMin, behindMax };
}

interface Following {
  readonly set: CharacterSet;
  /** Nothing follows: the attempt has succeeded, nothing can make it come back. */
  readonly free: boolean;
}

interface Measured extends Cost {
  /** Ways to match that have to be tried when what follows fails. */
  readonly ways: number;
}

const NOTHING: Measured = { steps: 1, lengthMax: 0, lengthMin: 0, behindMax: 0, ways: 1 };

function measure(node: Node, following: Following): Measured {
  switch (node.kind) {
    case "character":
      return { steps: 1, lengthMax: 1, lengthMin: 1, behindMax: 0, ways: 1 };
    case "edge":
      return { ...NOTHING, lengthMax: 1, behindMax: 1 };
    case "capture":
      return measure(node.body, following);
    case "look": {
      const body = measure(node.body, { set: ANYTHING, free: true });
      const seen = node.behind
        ? { lengthMax: 0, behindMax: body.lengthMax + body.behindMax }
        : { lengthMax: body.lengthMax, behindMax: body.behindMax };
      return { steps: body.steps + 1, lengthMin: 0, ways: 1, ...seen };
    }
    case "choice":
      return measureChoice(node.options, following);
    case "repeat":
      return measureRepeat(node, following);
    case "sequence":
      return measureSequence(node.parts, following);
  }
}

function measureChoice(options: readonly Node[], following: Following): Measured {
  const measured = options.map((option) => measure(option, following));
  const firsts = options.map(firstOf);
  const apart = firsts.every(
    (first, index) =>
      !first.nullable && firsts.every((other, place) => place <= index || !overlap(first.set, other.set)),
  );
  const ways = measured.map((option) => option.ways);
  return {
    steps: measured.reduce((sum, option) => sum + option.steps, options.length),
    lengthMax: Math.max(...measured.map(({ lengthMax }) => lengthMax)),
    lengthMin: Math.min(...measured.map(({ lengthMin }) => lengthMin)),
    behindMax: Math.max(...measured.map(({ behindMax }) => behindMax)),
    ways: apart ? Math.max(...ways) : ways.reduce((sum, way) => sum + way, 0),
  };
}

function measureRepeat({ body, min, max }: Extract<Node, { kind: "repeat" }>, following: Following): Measured {
  const first = firstOf(body);
  const inner = measure(body, max === 1 ? following : { set: followingBody(first.set, following), free: false });
  // When the next thing cannot begin like another repetition, only one number of repetitions can go on.
  const decided = following.free || (!first.nullable && !overlap(first.set, following.set));
  let steps = 1;
  let paths = 1;
  for (let count = 0; count < max && steps < Number.MAX_SAFE_INTEGER; count += 1) {
    steps += paths * (inner.steps + 1);
    paths *= inner.ways;
  }
  const turns = max - min + 1;
  return {
    steps: steps + turns,
    lengthMax: inner.lengthMax * max,
    lengthMin: inner.lengthMin * min,
    behindMax: inner.behindMax,
    ways: paths * (decided ? 1 : turns),
  };
}

/** After one repetition comes another one, or what follows. */
function followingBody(first: CharacterSet, following: Following): CharacterSet {
  const set = first.slice();
  addAll(set, following.set);
  return set;
}

function measureSequence(parts: readonly Node[], following: Following): Measured {
  const total = { steps: 1, lengthMax: 0, lengthMin: 0, behindMax: 0, ways: 1 };
  for (const [index, part] of parts.entries()) {
    const measured = measure(part, followingOf(parts.slice(index + 1), following));
    total.steps += total.ways * measured.steps;
    total.ways *= measured.ways;
    total.lengthMax += measured.lengthMax;
    total.lengthMin += measured.lengthMin;
    total.behindMax = Math.max(total.behindMax, measured.behindMax);
  }
  return total;
}

function followingOf(rest: readonly Node[], following: Following): Following {
  if (rest.length === 0) return following;
  // A look-around can fail whatever the next character is: nothing is known of what it lets pass.
  if (rest.some(({ kind }) => kind === "look" || kind === "edge")) {
    const [next] = rest;
    const first = next && firstOf(next);
    return { set: first && !first.nullable ? first.set : ANYTHING, free: false };
  }
  const first = firstOf({ kind: "sequence", parts: rest });
  if (!first.nullable) return { set: first.set, free: false };
  const set = first.set.slice();
  addAll(set, following.set);
  return { set, free: following.free };
}
