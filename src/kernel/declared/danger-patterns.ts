/**
 * Danger patterns: whether the arguments of a call look dangerous by what its tool, or the operator, declared.
 *
 * They are tried on the canonical JSON of the arguments, by an engine whose time is linear in the text; what JSON
 * writes with escapes is tried as it is, too, so that a tab is white space to a pattern, and bytes are tried as the
 * text that they are, so that the wire's form of a call hides nothing. The engine is loaded once a tool has patterns.
 * INVARIANT: what cannot be looked through counts as dangerous: arguments that are too large or too deep, and every
 * call before the engine is there.
 */
import type { RRegexSet } from "rregex";
import { KIB } from "../../base/bytes.ts";
import { configInvalid } from "../../base/errors.ts";
import { canonicalJson, type JsonValue } from "../../base/json.ts";
import { DANGER_PATTERNS_MAX } from "../../base/limits.ts";
import { DANGER_PATTERN_STATES_MAX, linearPattern, tooManyStates } from "./linear-pattern.ts";
import { readableArguments } from "./plain-arguments.ts";

/**
 * States times characters that one call may cost: at worst a fifth of a second, because a match cannot be interrupted.
 */
export const DANGER_STEPS_MAX = 4_194_304;
/** Characters of arguments that danger patterns are tried on, however few states they have; more of them ask. */
export const DANGER_TEXT_CHARACTERS_MAX = 256 * KIB;
/** Nested values of arguments that are looked through; deeper ones ask. */
const DANGER_TEXT_DEPTH_MAX = 64;

/**
 * Why a call counts as dangerous: the pattern's place in the declaration, from 1 on, or `unread` where no pattern was
 * tried.
 */
export interface Danger {
  readonly name: string;
  /** For people. */
  readonly reason: string;
}

/** What is known of one list of patterns. */
interface Prepared {
  readonly texts: readonly string[];
  readonly charactersMax: number;
  set?: RRegexSet;
}

type Engine = typeof import("rregex");

const prepared = new WeakMap<readonly RegExp[], Prepared>();
let engine: Engine | undefined;
let loading: Promise<void> | undefined;

/** What is wrong with `patterns`, each as its place and the problem; none when they can be tried on arguments. */
export function problemsOfPatterns(patterns: readonly RegExp[]): readonly string[] {
  if (patterns.length > DANGER_PATTERNS_MAX)
    return [`there are ${patterns.length} patterns, of which ${DANGER_PATTERNS_MAX} are accepted`];
  const problems: string[] = [];
  let states = 0;
  for (const [index, pattern] of patterns.entries()) {
    const linear = linearPattern(pattern);
    if (linear.ok) states += linear.states;
    else problems.push(`pattern ${index + 1}: ${linear.problem}`);
  }
  if (states > DANGER_PATTERN_STATES_MAX) problems.push(`all patterns together: ${tooManyStates(states)}`);
  return problems;
}

/**
 * Makes `patterns` ready, which may take until `patternsReady` resolves.
 * @throws KernelError CONFIG_INVALID naming every pattern that cannot be tried in linear time
 */
export function preparePatterns(tool: string, patterns: readonly RegExp[]): void {
  if (patterns.length === 0) return;
  const problems = problemsOfPatterns(patterns);
  if (problems.length > 0) throw configInvalid(`danger patterns of \`${tool}\` are refused: ${problems.join("; ")}`);
  readied(patterns);
  loading ??= loadEngine();
  loading.catch(() => undefined); // whoever waits for it meets the failure; until then every call counts as dangerous
}

async function loadEngine(): Promise<void> {
  engine = await import("rregex");
}

/** Resolves once the patterns that were prepared can be tried. */
export async function patternsReady(): Promise<void> {
  await loading;
}

/** Which of `patterns` the arguments match. */
export function dangersOf(patterns: readonly RegExp[] | undefined, args: unknown): readonly Danger[] {
  if (patterns === undefined || patterns.length === 0) return NONE;
  if (engine === undefined) return [unread("the patterns of the tool are not ready yet")];
  const ready = readied(patterns);
  const texts = textsOf(args, ready.charactersMax);
  if (texts === undefined) return [unread("the arguments are too large to be looked through for danger patterns")];
  ready.set ??= new engine.RRegexSet([...ready.texts]);
  const { set } = ready;
  const first = texts.find((text) => set.isMatch(text));
  if (first === undefined) return NONE;
  const found = new Set(texts.flatMap((text) => set.matches(text)));
  return [...found].sort((left, right) => left - right).map((index) => matched(index, patterns[index]));
}

const NONE: readonly Danger[] = [];

function matched(index: number, pattern: RegExp | undefined): Danger {
  return { name: String(index + 1), reason: `the arguments match the danger pattern \`${String(pattern)}\`` };
}

function unread(reason: string): Danger {
  return { name: "unread", reason };
}

/** Lists that were never prepared are read here; a pattern that cannot be read then throws, which denies the call. */
function readied(patterns: readonly RegExp[]): Prepared {
  const known = prepared.get(patterns);
  if (known !== undefined) return known;
  const linear = patterns.map(linearPattern);
  const texts = linear.map((pattern) => (pattern.ok ? pattern.text : undefined));
  const states = linear.reduce((sum, pattern) => sum + (pattern.ok ? pattern.states : 0), 0);
  if (!texts.every((text) => text !== undefined)) throw configInvalid("a danger pattern cannot be read; mend the tool");
  const charactersMax = Math.min(DANGER_TEXT_CHARACTERS_MAX, Math.floor(DANGER_STEPS_MAX / states));
  const made = { texts, charactersMax };
  prepared.set(patterns, made);
  return made;
}

/** The canonical JSON, then what JSON writes otherwise than it is; `undefined` when it is too much. */
function textsOf(args: unknown, charactersMax: number): readonly string[] | undefined {
  if (typeof args !== "object" || args === null) return undefined;
  const room: Room = { found: [], left: charactersMax };
  const plain = readableArguments(args as Readonly<Record<string, unknown>>);
  if (!collect(plain, room, 0)) return undefined;
  const canonical = canonicalJson(plain);
  if (canonical.length > charactersMax * ESCAPES_MAX) return undefined;
  return canonical.includes("\\") ? [canonical, ...room.found.filter(isEscaped)] : [canonical];
}

/** How much longer than what it says JSON may be. */
const ESCAPES_MAX = 2;

interface Room {
  readonly found: string[];
  left: number;
}

/** Collects all strings, as long as everything fits. */
function collect(value: JsonValue | undefined, room: Room, depth: number): boolean {
  if (typeof value === "string") {
    room.left -= value.length;
    if (room.left < 0 || !value.isWellFormed()) return false;
    room.found.push(value);
    return true;
  }
  if (typeof value !== "object" || value === null) return --room.left >= 0;
  if (depth >= DANGER_TEXT_DEPTH_MAX) return false;
  for (const [name, member] of Object.entries(value)) {
    room.left -= name.length;
    if (!name.isWellFormed()) return false;
    room.found.push(name);
    if (!collect(member as JsonValue | undefined, room, depth + 1)) return false;
  }
  return true;
}

/** Whether JSON writes `text` otherwise than it is. */
function isEscaped(text: string): boolean {
  return JSON.stringify(text).length !== text.length + 2;
}
