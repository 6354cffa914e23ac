/**
 * Detects `sed` and `awk` scripts in a command line that start programs.
 *
 * It reads the scripts only as far as that takes.
 *
 * INVARIANT: a script that is not understood starts programs.
 */
import { mayBeMany, type ShellWord } from "../words/words.ts";
import type { FoundGadget } from "./find-gadgets.ts";
import { DEEDS } from "./rows/gadget.ts";

/** What the scripts of `name` with `args` do; nothing for other programs. */
export function scriptGadgets(name: string, args: readonly ShellWord[]): readonly FoundGadget[] {
  if (/^(?:[gmn]|original-)?awk$/.test(name))
    return awkRuns(args) ? [found(`${name} with system, getline or |`, "gawk(1)")] : [];
  if (name !== "sed" && name !== "gsed") return [];
  if (args.some(({ text }) => text.length > 3 && "--sandbox".startsWith(text))) return [];
  return sedScripts(args).some(sedRuns) ? [found(`${name} with the command e`, "sed(1)")] : [];
}

function found(by: string, source: string): FoundGadget {
  return { danger: DEEDS.runs.danger, reason: `\`${by}\` ${DEEDS.runs.says} (${source})` };
}

/** `system()`, pipes, `getline`, functions that are called by a name in a variable, and output to files. */
function awkRuns(args: readonly ShellWord[]): boolean {
  return args.some(({ text }) => !text.startsWith("-") && /system|getline|@|(?<!\|)\|(?!\|)|print[\s\S]*>/.test(text));
}

/** Letters of sed whose value is joined to them or the next word. */
const SED_VALUES = "l";

/** All texts that sed takes for its script: those of `-e`, or the first operand. */
function sedScripts(args: readonly ShellWord[]): readonly string[] {
  const scripts: string[] = [];
  let operand: string | undefined;
  for (let at = 0; at < args.length; at += 1) {
    const { text } = args[at] as ShellWord;
    const long = /^--ex?p?r?e?s?s?i?o?n?(?:=([\s\S]*))?$/.exec(text);
    const letters = /^-([a-zA-Z]*?)([ei])([\s\S]*)$/.exec(text);
    if (long !== null) scripts.push(long[1] ?? args[++at]?.text ?? "");
    // `-i` takes what is joined to it for the ending of a backup.
    else if (letters?.[2] === "e" && !letters[1]?.includes(SED_VALUES))
      scripts.push(letters[3] || (args[++at]?.text ?? ""));
    else if (text === "--line-length" || text === "-l" || text === "-f" || text === "--file") at += 1;
    else if (!text.startsWith("-") || text === "-") operand ??= text;
    else if (text === "--") operand ??= args[at + 1]?.text;
  }
  if (args.some((word) => !word.known && mayBeMany(word))) return [...scripts, operand ?? ""];
  return scripts.length > 0 ? [scripts.join("\n")] : operand === undefined ? [] : [operand];
}

/** Whether a script of sed holds the command `e`, or a substitution with the flag `e`. */
export function sedRuns(script: string): boolean {
  // Versions differ in whether a delimiter ends a pattern inside of brackets.
  return [true, false].some((seesBrackets) => runsAsRead(script, seesBrackets));
}

function runsAsRead(script: string, seesBrackets: boolean): boolean {
  const reader = new SedReader(script, seesBrackets);
  while (!reader.isAtEnd) {
    const command = reader.command();
    if (command === "runs") return true;
  }
  return false;
}

/** Reads one script from its beginning to its end, each character once. */
class SedReader {
  readonly #text: string;
  readonly #seesBrackets: boolean;
  #at = 0;

  constructor(text: string, seesBrackets: boolean) {
    this.#text = text;
    this.#seesBrackets = seesBrackets;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** One command with its addresses. */
  command(): "runs" | "plain" {
    this.#skip(/[\s;{}]*/y);
    while (this.#address()) this.#skip(/[\s,~+!]*/y);
    this.#skip(/[\s!]*/y);
    const letter = this.#take();
    if (letter === "" || "{};".includes(letter)) return "plain";
    if (letter === "e") return "runs";
    if (letter === "s") return this.#substitution();
    if (letter === "y") return this.#delimited(false) && this.#rest(false) ? "plain" : "runs";
    if ("aic".includes(letter)) this.#skip(/(?:\\[\s\S]|[^\n])*/y);
    else if ("rRwW#".includes(letter)) this.#skip(/[^\n]*/y);
    else if ("btT:v".includes(letter)) this.#skip(/[ \t]*[^\s;}]*/y);
    else if (!"=dDgGhHnNpPxzFqQlL".includes(letter)) return "runs";
    return "plain";
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += text.length;
    return text;
  }

  #take(): string {
    const letter = this.#text.charAt(this.#at);
    this.#at += 1;
    return letter;
  }

  /** A number, the last line, or a pattern between delimiters. */
  #address(): boolean {
    if (this.#skip(/\d+|\$/y) !== "") return true;
    const letter = this.#text.charAt(this.#at);
    if (letter !== "/" && letter !== "\\") return false;
    if (letter === "\\") this.#at += 1;
    if (this.#delimited(this.#seesBrackets)) this.#skip(/[IM]*/y);
    else this.#at = this.#text.length;
    return true;
  }

  #delimiter = "";

  /** What stands between a delimiter and the next one. */
  #delimited(seesBrackets: boolean): boolean {
    this.#delimiter = this.#take();
    return this.#delimiter !== "" && this.#rest(seesBrackets);
  }

  #rest(seesBrackets: boolean): boolean {
    while (!this.isAtEnd) {
      const letter = this.#take();
      if (letter === "\\") this.#at += 1;
      else if (letter === "[" && seesBrackets) this.#skip(/\^?\]?(?:\[[:.=][^\]]*\]|[^\]])*\]/y);
      else if (letter === this.#delimiter) return true;
    }
    return false;
  }

  #substitution(): "runs" | "plain" {
    if (!this.#delimited(this.#seesBrackets) || !this.#rest(false)) return "runs";
    const flags = this.#skip(/[gpiImM\de]*/y);
    if (flags.includes("e")) return "runs";
    if (this.#text.charAt(this.#at) === "w") this.#skip(/[^\n]*/y);
    return "plain";
  }
}
