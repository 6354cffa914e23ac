/** Texts that `xargs` and `find` put something else in place of, wherever they stand in a word. */
import type { ShellWord } from "./words.ts";

/** What find, and fd in more ways, put the name of a file in place of. */
export const PLACES = ["{}", "{/}", "{//}", "{.}", "{/.}"];

/** The texts that xargs puts its input in place of. */
export function replacedBy(options: readonly ShellWord[]): readonly string[] {
  return options.flatMap(({ text }, at) => {
    const [, letters = "", rest = ""] = /^-([a-zA-Z0]*?)[IJi](.*)$/s.exec(text) ?? [];
    if (text.startsWith("--")) return /^--rep/.test(text) ? [text.split("=")[1] ?? "{}"] : [];
    if (!/^-[a-zA-Z0]*?[IJi]/.test(text) || /[adEsLnPRS]/.test(letters)) return [];
    return rest === "" ? [options[at + 1]?.text ?? "{}", "{}"] : [rest];
  });
}

/** `words` in which each that holds one of `places` is only known at run time. */
export function replaced(words: readonly ShellWord[], places: readonly string[]): readonly ShellWord[] {
  return words.map((word) =>
    places.some((place) => place !== "" && word.text.includes(place)) ? { ...word, known: false } : word,
  );
}
