/**
 * Recognises an option among the arguments of a program, in every form that its parser may take it.
 *
 * It errs to the side of seeing one: the value of another option may be taken for it, and what stands behind `--` as
 * well.
 */

/** Whether `text` gives `option`; `values`: letters of the program that take a value. */
export function givesOption(text: string, option: string, values = ""): boolean {
  if (option.startsWith("--")) return givesLong(text, option);
  if (option.length > 2) return givesWord(text, option);
  if (!/^-[^-]/.test(text)) return false;
  for (const letter of text.slice(1)) {
    if (letter === option.charAt(1)) return true;
    if (values.includes(letter)) return false;
  }
  return false;
}

/** `--exec`, cut short to `--exe`, with `=value`. */
function givesLong(text: string, option: string): boolean {
  const [name = ""] = text.split("=", 1);
  return name === option || (name.length > 2 && option.startsWith(name));
}

/** `-engine` is written with one dash or two, and its value stands behind it, or behind `=`. */
function givesWord(text: string, option: string): boolean {
  const [name = ""] = text.split("=", 1);
  return name === option || name === `-${option}`;
}
