/**
 * Finds the gadgets of a command in the lists.
 *
 * It tells which rows hold for a program with its arguments, and whether arguments that are only known at run time may
 * make one hold.
 */
import type { Input } from "../words/input.ts";
import { isFixed, mayBeMany, type ShellWord } from "../words/words.ts";
import { givesOption } from "./options.ts";
import { ARCHIVE_VALUES, ARCHIVES } from "./rows/archives.ts";
import { BUILD, BUILD_VALUES } from "./rows/build.ts";
import { CHECKER_VALUES, CHECKERS } from "./rows/checkers.ts";
import { CONTAINERS } from "./rows/containers.ts";
import { DATABASES } from "./rows/databases.ts";
import { DOCUMENTS } from "./rows/documents.ts";
import { EDITORS } from "./rows/editors.ts";
import { DEEDS, type Gadget } from "./rows/gadget.ts";
import { INTERPRETERS } from "./rows/interpreters.ts";
import { NETWORK, NETWORK_VALUES } from "./rows/network.ts";
import { PACKAGE_VALUES, PACKAGES } from "./rows/packages.ts";
import { RUNNERS } from "./rows/runners.ts";
import { SYSTEM } from "./rows/system.ts";
import { TEXT } from "./rows/text.ts";
import { VERSION_CONTROL } from "./rows/version-control.ts";

/** All lists. */
export const GADGETS: readonly Gadget[] = [
  ...[...ARCHIVES, ...BUILD, ...CHECKERS, ...CONTAINERS, ...DATABASES, ...DOCUMENTS, ...EDITORS, ...INTERPRETERS],
  ...[...NETWORK, ...PACKAGES, ...RUNNERS, ...SYSTEM, ...TEXT, ...VERSION_CONTROL],
];

const VALUES: Readonly<Record<string, string>> = {
  ...ARCHIVE_VALUES,
  ...BUILD_VALUES,
  ...CHECKER_VALUES,
  ...NETWORK_VALUES,
  ...PACKAGE_VALUES,
};

/** A row with its lists split, and the name of the program that it is about. */
interface Row {
  readonly program: string;
  readonly gadget: Gadget;
  readonly options: readonly string[];
  readonly verbs: readonly (readonly string[])[];
  readonly unless: readonly string[];
  readonly leading: readonly string[];
}

const ROWS = rowsByProgram();

function rowsByProgram(): ReadonlyMap<string, readonly Row[]> {
  const byProgram = new Map<string, Row[]>();
  for (const gadget of GADGETS) {
    const options = parts(gadget.options, " ");
    const verbs = parts(gadget.verbs, ",").map((verb) => parts(verb, " "));
    const unless = parts(gadget.unless, ",");
    const leading = parts(gadget.leading, " ");
    for (const program of parts(gadget.of, " ")) {
      byProgram.set(program, [...(byProgram.get(program) ?? []), { program, gadget, options, verbs, unless, leading }]);
    }
  }
  return byProgram;
}

function parts(text: string | undefined, by: string): readonly string[] {
  return (text ?? "")
    .split(by)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** A gadget that was found. */
export interface FoundGadget {
  readonly danger: (typeof DEEDS)[keyof typeof DEEDS]["danger"];
  /** Which part of the call it is, in the list's words alone. */
  readonly reason: string;
}

/** The gadgets of `name` with `args`. */
export function gadgetsOf(name: string, args: readonly ShellWord[], input: Input): readonly FoundGadget[] {
  const found = new Map<string, FoundGadget>();
  if (asksOnly(args)) return [];
  for (const row of rowsOf(name)) {
    if (row.unless.some((plain) => isPlain(plain, args)) || givesPlainVerb(row, args)) continue;
    const by = whatHolds(row, args, input);
    if (by === undefined) continue;
    const { danger, says } = DEEDS[row.gadget.does];
    const reason = `\`${by}\` ${says} (${row.gadget.source})`;
    found.set(reason, { danger, reason });
  }
  return [...found.values()];
}

/**
 * Whether arguments that are only known at run time may be what makes `name` start or load something.
 * @param fed when it gets more of them at run time
 */
export function mayBecomeGadget(name: string, args: readonly ShellWord[], fed: boolean): boolean {
  const rows = rowsOf(name).filter(({ gadget }) => gadget.always !== true);
  const obeysArguments = rows.some(
    ({ options, verbs, gadget }) => options.length > 0 || verbs.length > 0 || looksAtWords(gadget),
  );
  if (!obeysArguments) return false;
  const looks = rows.some(({ gadget }) => looksAtWords(gadget));
  return fed || args.some((word) => mayBeOption(word) || (looks && !word.known));
}

/** Whether what the word becomes may be an option, or several words of which one is. */
export function mayBeOption(word: ShellWord): boolean {
  if (word.known) return word.expands && /^[*?[]/.test(word.text);
  return mayBeMany(word) || /^["$`]/.test(word.text);
}

function looksAtWords({ words, first, operands }: Gadget): boolean {
  return words !== undefined || first !== undefined || operands !== undefined;
}

function rowsOf(name: string): readonly Row[] {
  const exact = ROWS.get(name) ?? [];
  const plain = plainName(name);
  if (plain === name) return exact;
  return [...exact, ...(ROWS.get(plain) ?? []).filter(({ gadget }) => exact.every((row) => row.gadget !== gadget))];
}

/** Ways in which systems write a program's name: `x86_64-linux-gnu-gcc-13`, `vim.basic`, `python3.12`, `nc.openbsd`. */
function plainName(name: string): string {
  const bare = name.replace(
    /^(?:[a-z0-9_]+-){2,3}(?=(?:gcc|g\+\+|cc|c\+\+|cpp|ld|as|ar|nm|objdump|strip|ranlib|gdb)\b)/,
    "",
  );
  const variant = /\.(?:basic|tiny|nox|gtk3?|athena|traditional|openbsd|bfd|gold|exe)$/;
  return bare.replace(variant, "").replace(/(?<=[a-z+])[-.]?\d[\d.]*$/, "");
}

/** A program that is only asked for its version or help does nothing else. */
function asksOnly(args: readonly ShellWord[]): boolean {
  return args.length === 1 && (args[0]?.text === "--version" || args[0]?.text === "--help");
}

function isPlain(plain: string, args: readonly ShellWord[]): boolean {
  if (plain.startsWith("-"))
    return args.some(({ text, known }) => known && (text === plain || text.startsWith(`${plain}=`)));
  const first = args[0];
  return first?.known === true && first.text === plain;
}

/**
 * Whether the sub-command is one that is known to be plain; none is known behind an option that may take it for its
 * value.
 */
function givesPlainVerb({ gadget: { unlessVerb }, leading }: Row, args: readonly ShellWord[]): boolean {
  if (unlessVerb === undefined) return false;
  let at = 0;
  for (let word = args[at]; word?.text.startsWith("-") === true; word = args[at]) {
    const name = word.text.split("=", 1)[0] ?? "";
    const takesNext = leading.includes(`${name}=`);
    if (!isFixed(word) || !(takesNext || leading.includes(name))) return false;
    at += takesNext && name === word.text ? 2 : 1;
  }
  const end = args.findIndex((word, index) => index >= at && (!isFixed(word) || word.text.startsWith("-")));
  const words = args.slice(at, end === -1 ? args.length : end);
  return unlessVerb.test(words.map(({ text }) => text).join(" "));
}

/** The part of the call that makes the row hold. */
function whatHolds(
  { program, gadget, options, verbs }: Row,
  args: readonly ShellWord[],
  input: Input,
): string | undefined {
  const named = (part: string) => `${program} ${part}`;
  if (gadget.always === true) return gadget.by === undefined ? program : named(gadget.by);
  const option = options.find((one) =>
    args.some(
      ({ text }, at) =>
        !isWholeOption(program, text) && givesOption(text, one, VALUES[program]) && !isPlainValue(gadget, args, at),
    ),
  );
  if (option !== undefined) return named(option);
  const verb = verbs.find((words) => givesVerb(args, words));
  if (verb !== undefined) return named(verb.join(" "));
  const by = named(gadget.by ?? "with such an argument");
  const { words } = gadget;
  if (words !== undefined && args.some(({ text }) => readings(text).some((reading) => words.test(reading)))) return by;
  if (gadget.first?.test(args[0]?.text ?? "") === true) return by;
  if (gadget.operands !== undefined && hasOperand(args, parts(gadget.operands, " "))) return by;
  return gadget.input !== undefined && readsCommands(gadget.input, input) ? named("with input") : undefined;
}

/**
 * Whether the option at `at` gets a value that is known to be plain: joined to it, behind `=`, or as the next word.
 */
function isPlainValue({ plain }: Gadget, args: readonly ShellWord[], at: number): boolean {
  const word = args[at];
  if (plain === undefined || !isFixed(word)) return false;
  const { text } = word;
  const end = text.indexOf("=");
  if (text.startsWith("--") ? end !== -1 : text.length > 2)
    return plain.test(text.slice(text.startsWith("--") ? end + 1 : 2));
  const next = args[at + 1];
  return isFixed(next) && plain.test(next.text);
}

/** What an argument is, or what is joined to the option in it. */
function readings(text: string): readonly string[] {
  const long = /^--[\w-]+=([\s\S]*)$/.exec(text)?.[1];
  if (long !== undefined) return [text, long];
  return /^-[a-zA-Z]./.test(text) ? [text, text.slice(2)] : [text];
}

/** Options that only look like the beginning of a gadget's, by program. */
const WHOLE_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  node: ["--test", "--run"],
  pytest: ["--co"],
  mysql: ["--init", "--de"],
  jest: ["--watch"],
};

function isWholeOption(program: string, text: string): boolean {
  return Object.hasOwn(WHOLE_OPTIONS, program) && WHOLE_OPTIONS[program]?.includes(text) === true;
}

/**
 * A first word that is no option is the sub-command; behind options, whose values are not known, it may be any word.
 */
function givesVerb(args: readonly ShellWord[], words: readonly string[]): boolean {
  const [head, ...rest] = words;
  const isFirst = args[0]?.text.startsWith("-") !== true;
  let at = isFirst ? (args[0]?.text === head ? 0 : -1) : args.findIndex(({ text }) => text === head);
  for (const word of rest) {
    if (at === -1) return false;
    const next = args.findIndex(({ text }, index) => index > at && text === word);
    at = next;
  }
  return at !== -1;
}

function hasOperand(args: readonly ShellWord[], takes: readonly string[]): boolean {
  return args.some(
    ({ text }, at) => (text === "-" || !text.startsWith("-")) && !takes.includes(args[at - 1]?.text ?? ""),
  );
}

function readsCommands(reads: true | RegExp, input: Input): boolean {
  if (input.kind === "none") return false;
  return reads === true || input.kind === "other" || reads.test(input.text);
}
