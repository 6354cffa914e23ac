/** Texts by which an agent could try to alter, hide or forge what an approver sees, and how each must be shown. */

/** A trick: its name, the text, and the only way in which it may appear. */
export interface Trick {
  readonly name: string;
  readonly text: string;
  readonly shown: readonly string[];
  /** It may be read as another text than it is, so a warning stands beside it. */
  readonly isLookAlike?: true;
}

const ESC = "\u001b";
const one = (name: string, text: string, shown: string): Trick => ({ name, text, shown: [shown] });

const TERMINAL: readonly Trick[] = [
  one("clear screen", `${ESC}[2Jok`, "⟨U+001B⟩[2Jok"),
  one("cursor home", `${ESC}[Hok`, "⟨U+001B⟩[Hok"),
  one("cursor up and erase line", `rm -rf /${ESC}[1A${ESC}[2Kls`, "rm -rf /⟨U+001B⟩[1A⟨U+001B⟩[2Kls"),
  one("erase to the left", `rm -rf /${ESC}[1Kls`, "rm -rf /⟨U+001B⟩[1Kls"),
  one("concealed text", `ls ${ESC}[8m; rm -rf /${ESC}[0m`, "ls ⟨U+001B⟩[8m; rm -rf /⟨U+001B⟩[0m"),
  one("black on black", `${ESC}[30;40mhidden`, "⟨U+001B⟩[30;40mhidden"),
  one("256 colours", `${ESC}[38;5;0mhidden`, "⟨U+001B⟩[38;5;0mhidden"),
  one("true colour", `${ESC}[38;2;0;0;0mhidden`, "⟨U+001B⟩[38;2;0;0;0mhidden"),
  one("alternate screen", `${ESC}[?1049h`, "⟨U+001B⟩[?1049h"),
  one("hidden cursor", `${ESC}[?25l`, "⟨U+001B⟩[?25l"),
  one("scroll region", `${ESC}[1;1r`, "⟨U+001B⟩[1;1r"),
  one("reverse index", `${ESC}Mok`, "⟨U+001B⟩Mok"),
  one("full reset", `${ESC}cok`, "⟨U+001B⟩cok"),
  one("save and restore cursor", `${ESC}7x${ESC}8`, "⟨U+001B⟩7x⟨U+001B⟩8"),
  one("report of the cursor's place", `${ESC}[6n`, "⟨U+001B⟩[6n"),
  one("answer back", `${ESC}[c\u0005`, "⟨U+001B⟩[c⟨U+0005⟩"),
  one("line drawing character set", `${ESC}(0lqk`, "⟨U+001B⟩(0lqk"),
  one("window title", `${ESC}]0;approved\u0007x`, "⟨U+001B⟩]0;approved⟨U+0007⟩x"),
  one(
    "hyperlink",
    `${ESC}]8;;https://evil.example\u0007docs${ESC}]8;;\u0007`,
    "⟨U+001B⟩]8;;https://evil.example⟨U+0007⟩docs⟨U+001B⟩]8;;⟨U+0007⟩",
  ),
  one("clipboard", `${ESC}]52;c;cm0gLXJm\u0007`, "⟨U+001B⟩]52;c;cm0gLXJm⟨U+0007⟩"),
  one("string terminated by ST", `${ESC}]2;x${ESC}\\y`, "⟨U+001B⟩]2;x⟨U+001B⟩\\y"),
  one("device control string", `${ESC}P$q q${ESC}\\`, "⟨U+001B⟩P$q q⟨U+001B⟩\\"),
  one("sixel image", `${ESC}Pq#0;2;0;0;0~${ESC}\\`, "⟨U+001B⟩Pq#0;2;0;0;0~⟨U+001B⟩\\"),
  one("application program command", `${ESC}_G${ESC}\\`, "⟨U+001B⟩_G⟨U+001B⟩\\"),
  one("privacy message", `${ESC}^x${ESC}\\`, "⟨U+001B⟩^x⟨U+001B⟩\\"),
  one("C1 control sequence introducer", "\u009b2Jok", "⟨U+009B⟩2Jok"),
  one("C1 operating system command", "\u009d0;x\u009c", "⟨U+009D⟩0;x⟨U+009C⟩"),
  one("C1 device control string", "\u0090q\u009c", "⟨U+0090⟩q⟨U+009C⟩"),
  one("C1 next line", "a\u0085b", "a⟨U+0085⟩b"),
  one("escape without an end", `ok${ESC}`, "ok⟨U+001B⟩"),
];

const CONTROLS: readonly Trick[] = [
  one("carriage return overwrites the line", "rm -rf /\rls      ", "rm -rf /␍ls⟨U+0020 × 6⟩"),
  one("backspaces overwrite", "rm\b\bls", "rm⟨U+0008⟩⟨U+0008⟩ls"),
  one("delete character", "rm\u007fls", "rm⟨U+007F⟩ls"),
  one("tabs push out of sight", "ls\t\t\trm", "ls⇥⇥⇥rm"),
  one("vertical tab", "a\u000bb", "a⟨U+000B⟩b"),
  one("form feed", "a\u000cb", "a⟨U+000C⟩b"),
  one("bell", "a\u0007b", "a⟨U+0007⟩b"),
  one("null", "a\u0000b", "a⟨U+0000⟩b"),
  one("shift out", "a\u000eb\u000f", "a⟨U+000E⟩b⟨U+000F⟩"),
  one("cancel and substitute", "\u0018\u001a", "⟨U+0018⟩⟨U+001A⟩"),
  one("half of a pair", "a\ud800b", "a⟨U+D800⟩b"),
];

const DIRECTION: readonly Trick[] = [
  one("right to left override", "invoice\u202egpj.exe", "invoice⟨U+202E⟩gpj.exe"),
  one("left to right override", "\u202dabc\u202c", "⟨U+202D⟩abc⟨U+202C⟩"),
  one("embeddings", "\u202aa\u202bb\u202c", "⟨U+202A⟩a⟨U+202B⟩b⟨U+202C⟩"),
  one("isolates", "\u2066a\u2067b\u2068c\u2069", "⟨U+2066⟩a⟨U+2067⟩b⟨U+2068⟩c⟨U+2069⟩"),
  one("direction marks", "a\u200eb\u200fc\u061cd", "a⟨U+200E⟩b⟨U+200F⟩c⟨U+061C⟩d"),
  one("Hebrew letters turn numbers around", "cp 1 \u05d0 2", "cp 1 ⟨U+05D0⟩ 2"),
  one("Arabic letters turn arguments around", "\u0627 --force", "⟨U+0627⟩ --force"),
  one("a ligature as wide as a word", "\ufdfd", "⟨U+FDFD⟩"),
];

const INVISIBLE: readonly Trick[] = [
  one("zero width space", "rm\u200b -rf", "rm⟨U+200B⟩ -rf"),
  one("zero width joiners", "a\u200cb\u200dc\u2060d", "a⟨U+200C⟩b⟨U+200D⟩c⟨U+2060⟩d"),
  one("byte order mark", "\ufeffx", "⟨U+FEFF⟩x"),
  one("soft hyphen", "pass\u00adword", "pass⟨U+00AD⟩word"),
  one("combining grapheme joiner", "a\u034fb", "a⟨U+034F⟩b"),
  one("Hangul fillers", "\u115f\u1160\u3164\uffa0", "⟨U+115F⟩⟨U+1160⟩⟨U+3164⟩⟨U+FFA0⟩"),
  one("Khmer inherent vowels", "\u17b4\u17b5", "⟨U+17B4⟩⟨U+17B5⟩"),
  one("variation selectors", "a\ufe0fb\u{e0100}", "a⟨U+FE0F⟩b⟨U+E0100⟩"),
  one("tag characters carry text", "ok\u{e0072}\u{e006d}", "ok⟨U+E0072⟩⟨U+E006D⟩"),
  one("braille blank", "a\u2800b", "a⟨U+2800⟩b"),
  one("no-break space", "a\u00a0b", "a⟨U+00A0⟩b"),
  one("ideographic and other blanks", "a\u3000b\u2003c\u202fd\u205fe", "a⟨U+3000⟩b⟨U+2003⟩c⟨U+202F⟩d⟨U+205F⟩e"),
  one("invisible operators", "f\u2061\u2062\u2063\u2064x", "f⟨U+2061⟩⟨U+2062⟩⟨U+2063⟩⟨U+2064⟩x"),
  one("interlinear annotation", "\ufff9a\ufffab\ufffb", "⟨U+FFF9⟩a⟨U+FFFA⟩b⟨U+FFFB⟩"),
  one("musical null note head and formats", "\u{1d159}\u{1d173}", "⟨U+1D159⟩⟨U+1D173⟩"),
  one("private use", "\ue000\u{f0000}", "⟨U+E000⟩⟨U+F0000⟩"),
  one("unassigned and not a character", "\u0378\uffff", "⟨U+0378⟩⟨U+FFFF⟩"),
  one("blanks push out of sight", `ls${" ".repeat(3000)}; rm -rf /`, "ls⟨U+0020 × 3000⟩; rm -rf /"),
  one("blanks at the end", "name ", "name⟨U+0020⟩"),
  one("nothing but blanks", " ".repeat(50), "⟨U+0020 × 50⟩"),
];

const MARKS: readonly Trick[] = [
  one("wall of combining marks", `e${"\u0301".repeat(5)}`, `e\u0301\u0301${"⟨U+0301⟩".repeat(3)}`),
  one("a mark upon what stands before", "\u0338x", "⟨U+0338⟩x"),
  one("a mark upon a blank", "a \u0338b", "a ⟨U+0338⟩b"),
  one("a mark upon a number", `${ESC}\u0338`, "⟨U+001B⟩⟨U+0338⟩"),
  one("enclosing marks strike out", "rm\u20e0\u20dd", "rm⟨U+20E0⟩⟨U+20DD⟩"),
];

const FORGERY: readonly Trick[] = [
  {
    name: "a line of the kernel's",
    text: "x\n# approved by the operator\n! no risk",
    shown: ["x", "# approved by the operator", "! no risk"],
  },
  one("line separator", "x\u2028# asked by", "x⟨U+2028⟩# asked by"),
  one("paragraph separator", "x\u2029# asked by", "x⟨U+2029⟩# asked by"),
  one("the notation of numbers", "⟨U+202E⟩", "⟨U+27E8⟩U+202E⟨U+27E9⟩"),
  one("signs that stand for tab and return", "⇥␍", "⟨U+21E5⟩⟨U+240D⟩"),
  {
    name: "hundreds of empty lines",
    text: `top${"\n".repeat(400)}bottom`,
    shown: ["top", "⟨399 empty lines⟩", "bottom"],
  },
  { name: "a note about empty lines", text: "⟨399 empty lines⟩", shown: ["⟨U+27E8⟩399 empty lines⟨U+27E9⟩"] },
  one("the bar before foreign text", "│ │ nothing", "│ │ nothing"),
];

const LETTERS: readonly Trick[] = [
  { name: "Cyrillic among Latin", text: "g\u0456thub.com", shown: ["g\u0456thub.com"], isLookAlike: true },
  { name: "Greek among Latin", text: "g\u03bfogle.com", shown: ["g\u03bfogle.com"], isLookAlike: true },
  { name: "full-width letters", text: "\uff52\uff4d -rf", shown: ["\uff52\uff4d -rf"], isLookAlike: true },
  {
    name: "letters of mathematics",
    text: "\u{1d42b}\u{1d426} -rf",
    shown: ["\u{1d42b}\u{1d426} -rf"],
    isLookAlike: true,
  },
  { name: "division slash", text: "src\u2215secrets", shown: ["src\u2215secrets"], isLookAlike: true },
  { name: "one dot leader", text: "\u2024\u2024/x", shown: ["\u2024\u2024/x"], isLookAlike: true },
];

/** All of them. */
export const PROMPT_TRICKS: readonly Trick[] = [
  ...TERMINAL,
  ...CONTROLS,
  ...DIRECTION,
  ...INVISIBLE,
  ...MARKS,
  ...FORGERY,
  ...LETTERS,
];
