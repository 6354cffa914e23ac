/** Random words and commands for a shell, made of what shells read in odd ways. Nothing in them does anything outside. */
import fc from "fast-check";

const text = (pieces: readonly string[]) => fc.constantFrom(...pieces);
const joined = (piece: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(piece, { minLength: 1, maxLength }).map((pieces) => pieces.join(""));
const characters = (all: string) => text([...all]);

const NAMES = ["a", "b", "rm", "x", "1", "-x", "é", "日"];
const MARKS = ["=", "#", "!", "%", "^", ",", ".", "..", ":", "@", "+", "]", "[", "}", "{", "~", "-", "/", "*", "?", "(", ")", "&", ";", "|"];
const ESCAPED = [..."abnx0\\'\"$ #;&{},.~*?[]`!=()<>|\n\té"].map((character) => `\\${character}`);
const SINGLE = ["'", "''", "'a b'", "'\\'", "'\"'", "'$x'", "'\n'", "'#'", "'{a,b}'", "',}'", "'`'", "'$('"];
const DOUBLE = [
  ...['"', '""', '"a b"', '"\\""', '"\\\\"', '"\\$"', '"\\`"', '"\\n"', '"\\\n"', '"\'"', '"#"', '"a\nb"', '"\\a"', '"$"', '"{a,b}"'],
  ...['"!"', '"\\!"', '",}"', '"`b`"', '"$(b)"', '"$(b "c")"', '"${x:-"a b"}"', "\"${x:-'a'}\"", '"${x:-\\}}"', '"~"', "\"$'a'\"", '"*"'],
  ...['"$x"', '"$((1+1))"', '"$[1]"', '"${x#\'}"', '"${x%"}"}"', '"\\\\\\"', '"${x:-{a,b}}"'],
];
const ANSI = ["a", "\\n", "\\t\\\\", "\\x41", "\\101", "\\'", "\\e", "\\x4", "\\q", "\\u41", '\\"', "\\?", "{a,b}", ",}", "\\x7b", "\\c", "\\ca"]
  .concat(["\\0", "\\x00a", "\\u0", "\\U1f600", "\\x{41}", "\\400", "\\8", "\\\n", "\\u00e9", "\\xc3\\xa9", "\\x", "a b", "\\054", "$(b)", "`"])
  .map((inner) => `$'${inner}'`);
const LOCALE = ['$"a"', '$"a b"', '$"$x"', '$"\\""', '$"{a,b}"', "$\"$'a'\""];
const BRACES = ["{a,b}", "{a}", "{a..c}", "{1..3}", "{1..3..2}", "{a,}", "{,a}", "{,}", "{}", "{a},}", "{{a,b},c}", "{a,{b}", "{a..b", "{a,b"]
  .concat(["{a..b..}", "{1..a}", "{01..03}", "{-1..1}", "{a,b}}", "{{a,b}", "{a,b}{c,d}", "{'a',b}", "{a\\,b}", '{"a,b"}', "{a,b\\}", "\\{a,b}"])
  .concat(["{$x,b}", "{$(b),c}", "{`b`,c}", "{${x},b}", "${a,b}", "${x,}", "$" + "{x,,}", "{a b,c}", "{a'b,c}", "{$'a',b}", "{$'\\'',b}"])
  .concat(["{..}", "{a...c}", "{a..c,d}", "{a,b..c}", "{<(b),c}", "{(a,b)}", "{a;b}", "{a&b,c}", "{é..ü}", "{a..C}", "{~,a}"]);
const PARAMETERS = ["$x", "${x}", "$1", "$10", "$@", "$*", "$#", "$?", "$$", "$!", "$-", "$_", "${#x}", "${x:-a b}", "${x:-'a'}", "${x-{a,b}}"]
  .concat(["${x:-$(b)}", "${x:+a}", "${x#a*}", "${x##*}", "${x%'}'}", "${x%%\\}}", "${x/a/b}", "${x//'/'/b}", "${x^}", "${x^^[a]}", "${x,}"])
  .concat(["${x:1}", "${x:1:2}", "${x:(-1)}", "${!x}", "${!x*}", "${!x@}", "${x[0]}", "${x[@]}", "${#x[@]}", "${x@Q}", "${x/#a/b}", "${@:1}"])
  .concat(['${x:-"a}"}', "${x:-`b`}", "${x:-${x:-a}}", "${x:-\\}}", "${x:-$'}'}", "${x:-<(b)}", "${x:-a#b}", "${x:- #}", "${#}", "${##}", "${}", "${-}"]);
const SUBSTITUTIONS = ["$(b)", "`b`", "$(b 'c d')", '$(b "c")', "$(b $(c))", "`b \\`c\\``", "$(b #)\n)", "$(b <<E\nc\nE\n)", "<(b)", ">(b)", "$( (b) )"]
  .concat(["$()", "``", "$(b; c)", "$(case a in a) b;; esac)", "`b \\$x`", '`b "c"`', "$(b | c)", "$(<b)", "${ b; }", "${| b; }", "$(b\\\n)", "`b '\\''`"])
  .concat(["$((1+1))", "$((x))", "$(( (1) ))", "$[1+1]", "$((b) )", "$(( $(b) ))", "$((1<<2))", "$((a[1]))", "$((1", "$(", "`", "${", "$((", "<(", ")", "))", "]]"]);
const PATTERNS = ["*", "?", "[a]", "[!a]", "[^a]", "[]a]", "[a-c]", "[[:alpha:]]", "[a", "[\\]]", "['a']", '["]"]', "@(a|b)", "!(a)", "+(a)", "*(a)", "?(a)"];
const TILDES = ["~", "~/a", "~+", "~-", "~root", "~a", "a=~", "a:~", "'~'", "\\~", "~'a'", "~$x", "~{a,b}", "=~", "x=a:~/b"];
const LINES = ["\\\n", " ", "\t", "\n", "  ", "\\", "$", "$ ", "\u00a0", "\u3000", "\u200b", "\r", "\x01", "\x7f", "\x0b", "\x0c", "\u0085"];

const odd = fc.oneof(
  ...[NAMES, MARKS, ESCAPED, SINGLE, DOUBLE, ANSI, LOCALE, BRACES, PARAMETERS, SUBSTITUTIONS, PATTERNS, TILDES, LINES].map(text),
);

/** A few characters from an alphabet so small that they come together in every way. */
const soups = fc.oneof(
  ...[
    "{},a",
    "{}.,a1-",
    "{},a'\"\\$",
    "{}a,$'\\",
    "{}a,(`$)",
    "'\"\\$a",
    "$'\\\"ax0n",
    '"`\\$a',
    '"$(){}a\'',
    "[]!^a-'\\*",
    "@!+?*(|)a",
    "~+-/a:=",
    "<>&0a-|",
    "<>(1a){} ",
    "<>(b)1{x}=",
    "$<>()'a\\\n{",
    "#(){}<a `$;",
    "#a \\\n'",
    "=[]+a1{}",
    "$#!?-*@{}a",
    '${}:-=?+x"\'a\\',
    "$(()1+a))",
    "!a'\" {}",
  ].map((all) => joined(characters(all), 9)),
);

/** A word, or what bash takes apart into several. */
export const oddWord: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: joined(odd, 6) },
  { weight: 2, arbitrary: joined(text([...BRACES, ...NAMES, ...ESCAPED, ",", "{", "}", "..", "'", '"', "$'"]), 6) },
  { weight: 2, arbitrary: joined(text([...SINGLE, ...DOUBLE, ...ANSI, ...LOCALE, ...ESCAPED, ...NAMES]), 6) },
  { weight: 3, arbitrary: soups },
);

/** A program `w` with one to three odd words. */
export const oddWords: fc.Arbitrary<string> = fc.array(oddWord, { minLength: 1, maxLength: 3 }).map((words) => `w ${words.join(" ")}`);

const SIMPLE = ["a", "b 'x y'", 'c "$v"', "rm -rf x", "x=1 d", "f | g", "! h", "! ! h", "i $(j k)", "l `m n`", "o <(p)", "q <<< r", "eval s t"]
  .concat(["eval 'u | v'", "command w", "y # z", "aa \\\n bb", "{ cc; dd; }", "( ee; ff )", "time gg", "time -p gg", "time -- gg", "time ! gg"])
  .concat(["[[ x == y ]]", "((1))", '[ -n "$(hh)" ]', "ii \"$(jj 'kk')\"", "ll() { mm; }; ll", "trap 'tt' EXIT", 'vv "${x:-$(ww)}"', "xx=$(yy) zz"])
  .concat(["true", "false", ":", "x=(a b) c", "x[1]=a b", "x+=(a)", "x=a", "declare -a x=(a $(b))", "export x=a\\ b", "local x=1", "readonly y=$(b)"])
  .concat(["declare 'x=a b'", "typeset x=`b`", "declare x=~ c", "export -- x={a,b}", "x={a,b} c", "x=a{b,c} d", "x= a", "x=$(b)", "x=\"a b\" c", "1x=a b"])
  .concat(["x[a b]=c d", "x['a']=b c", "declare -A x=([a]=b [c]=d)", "alias a=b", "unalias a", "let x=1", "let 'x=1'", "builtin eval a", "command -v a"])
  .concat(["function kk { a; }", "function kk() { a; }", "kk() ( a )", "kk () if a; then b; fi", "kk()\n{ a; }", "kk", "function if { a; }; if", "a() b"])
  .concat(["coproc a", "coproc x { a; }", "coproc x (a)", "coproc a b", "coproc { a; b; }", "select x in a; do b; done", "for x; do a; done"])
  .concat(["for x in a b\ndo c; done", "for ((;;)); do a; break; done", "for ((i=0;i<2;i++)) { a; }", "for x in a b; { c; }", "case x in x) a;; esac"])
  .concat(["case x in (x) a;; esac", "case x in a|x) b;& c) d;; esac", "case x in x) a;;& *) b; esac", "case $(a) in *) b;; esac", "case x in esac"])
  .concat(["case in in in) a;; esac", "case x in if) a;; x) if b; then c; fi;; esac", "if a; then b; elif c; then d; else e; fi", "while false; do a; done"])
  .concat(["until true; do a; done", "if ! a; then b; fi", "if { a; }; then b; fi", "if (a) then b; fi", "[[ a && b ]]", "[[ ! -f a ]]", "[[ a =~ (b|c) ]]"])
  .concat(["[[ a < b ]] && c", "[[ ( a ) ]]", "[[ -n $(a) || b ]]", "[[ a == b* ]]", "[[ a\n&& b ]]", "((x=1))", "((x<<1))", "(( $(a) ))", "( (a) )"])
  .concat(["((a); b)", "((a) )", "( (a); (b))", "$x", "$(a)", "`a`", "\"a\"", "'a'", "\\a", "a\\ b", "''", '""', "{a,b}", "{a,b} c", "~", "*", "a=b=c d"]);
const REDIRECTED = ["e 2>&1", "a >&2", "a 2>&-", "a <&-", "a <&0-", "a >&3-", "a 3<&0", "a &>/dev/null", "a >/dev/null 2>&1", "a </dev/null", "a <<<b"]
  .concat(["a {x}>&1", "a {x}<&-", "a 2>&1-", "{ a; } 2>&1", "(a) >&2", "2>&1 a", ">/dev/null a b", "a 10>&1", "a 1>&2 b", "a>&2 b", "a2>&2", "a 2 >&2 b"])
  .concat(["a <<<$(b)", "a <<< 'b c'", "a >&$x", "a >& 2", "a >|/dev/null", "a <>/dev/null b", "a &>>/dev/null b", "a >&/dev/null b", "a {x} >&2", "a \\2>&1"])
  .concat(["a '2'>&1", "a >&2-b", "a >&-b", "a <&2\\\nb", "if a; then b; fi >&2", "for x in a; do b; done 2>&1", "[[ a ]] 2>&1", "((1)) >&2", "a < <(b)", "a > >(b)"]);
const HEREDOCS = ["nn <<E\n$(oo)\nE\n", "pp <<'E'\n$(qq)\nE\n", "rr <<-E\n\tss\n\tE\n", 'a <<"E"\n`b`\nE\n', "a <<\\E\n$(b)\nE\n", "a <<E'F'\n$(b)\nEF\n"]
  .concat(["a <<E <<F\n$(b)\nE\n$(c)\nF\n", "a <<E | b\n$(c)\nE\n", "a <<E; b\nc\nE\n", "a <<E\nb\\\nE\nE\n", "a <<E\n\\$(b)\nE\n", "a <<E\n`b`\nE\n", "a <<E\n${x:-$(b)}\nE\n"])
  .concat(["a <<''\nb\n\n", "a <<-'E'\n\t$(b)\n\tE\n", "a <<$x\nb\n$x\n", "a <<`b`\nc\n`b`\n", "a <<E\\\nF\nb\nEF\n", "a <<E\nb\nE \nE\n", "a <<E\nb", "a <<E\nb\nE", "a <<$'E'\nb\n$E\nE\n"])
  .concat(["a $(b <<E\nc\nE\n)", "a <<E $(b <<F\nc\nF\n)\nd\nE\n", "a <<E\n$(b <<F\nc\nF\n)\nE\n", "a <<E &&\nb\nE\nc", "a <<E\n\"$(b)\"\nE\n", "a <<E\n'$(b)'\nE\n", "a <<{a,b}\nc\n{a,b}\n"])
  .concat(['a <<"a b"\nc\na b\n', "a <<#\nb\n#\n", "a <<-E\nb\n \tE\n\tE\n", "(a <<E)\nb\nE\n", "{ a <<E; }\nb\nE\n", "a <<E)\nb\nE\n", "a 3<<E\nb\nE\n", "a <<E\n$((1+$(b)))\nE\n"]);
const COMPOUND = ["if % ; then % ; else % ; fi", "for v in 1 2; do % ; % ; done", "case x in x) % ;; y) % ;; esac", "f() { % ; }; f; %", "( % ; % )"]
  .concat(["{ % ; % ; }", "a $( % ; % )", 'a "$( % ; % )"', "a ` % ; % `", "% <<E\n$( % )\nE\n", "until % ; do % ; break; done", "coproc { % ; % ; }"])
  .concat(["[[ -n $( % ) ]] && %", "x=( $( % ) ) %", "x=$( % ) %", "for ((;;)); do % ; break; done", "function f { % ; }; f", "! % && %", "time { % ; }"])
  .concat(["while % ; do % ; break; done", "select v in $( % ); do % ; break; done", "% & %", "case $( % ) in *) % ;& *) % ;; esac", "${x:-$( % )} %", "$(( $( % ) ))"])
  .concat(["a $(%)", "a \"$(%)\"", "a <(%)", "$(%\n)", "x=$(%)", "a $(%\n%)", "a $(b $(%))", "a \"${x:-$(%)}\"", "[[ $(%) ]]", "(( $(%) ))", "a <<E\n$(%)\nE\n"])
  .concat(["eval '%'", "eval \"%\"", "eval \\\n %", "trap '%' EXIT", "a <( % ) >( % )", "if % \n then % \n fi", "{ % \n % \n }", "(\n%\n)", "a \"${x:-$( % )}\"", "a \"`%`\""]);
const JOINTS = ["#b ", "; ", "\n", " && ", " || ", " | ", " & ", " |& ", " ", "\\\n", ";;", "(", ")", '"', "'", "`", "$(", " > ", " < ", "#", " #", "<<E\n", "\nE\n", "{", "}"]
  .concat(["!", "$", "\\", "&&\n", "|\n", "\n\n", ";\n", " # '\n", " #\\\n", "\t", "$'", '$"', "((", "))", "[[", "]]", "<<<", "&>", ">&", "2>&1 ", "\r\n", "=", "=(", "\n#"]);
const KEYWORDS = ["if", "then", "else", "elif", "fi", "do", "done", "in", "esac", "case", "for", "while", "}", "{", "!", "time", "coproc", "function", "[[", "]]"];

const quotedWord = fc.oneof(oddWord, text(NAMES));
const part: fc.Arbitrary<string> = fc.oneof(
  { weight: 24, arbitrary: text(SIMPLE) },
  { weight: 5, arbitrary: text(REDIRECTED) },
  { weight: 3, arbitrary: text(HEREDOCS) },
  { weight: 3, arbitrary: fc.tuple(text(["a", "b", "rm"]), quotedWord).map((words) => words.join(" ")) },
  { weight: 1, arbitrary: quotedWord },
  { weight: 1, arbitrary: text(KEYWORDS) },
);
const compound: fc.Arbitrary<string> = fc
  .tuple(
    text([...COMPOUND, ...COMPOUND.map((form) => form.replaceAll("% ;", "%\n"))]),
    fc.array(fc.oneof({ weight: 4, arbitrary: part }, { weight: 1, arbitrary: text(COMPOUND) }), { minLength: 3, maxLength: 3 }),
  )
  .map(([form, inner]) => {
    let at = 0;
    return form.replaceAll("%", () => inner[at++] ?? "a").replaceAll("%", "a");
  });
const joint = fc.oneof(
  { weight: 9, arbitrary: text([";", "\n", " && ", " | ", " || "]) },
  { weight: 1, arbitrary: text(JOINTS) },
);
const tokenSoup = joined(fc.oneof(text(KEYWORDS).map((word) => `${word} `), text(JOINTS), text(["a ", "b ", "x=1 ", "'c d' "])), 14);

/** A line of commands, whole or broken. */
export const oddCommand: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .array(fc.tuple(fc.oneof({ weight: 3, arbitrary: part }, { weight: 2, arbitrary: compound }), joint), { maxLength: 2 })
      .map((parts) => parts.flat())
      .chain((parts) => part.map((last) => [...parts, last].join(""))),
  },
  { weight: 1, arbitrary: tokenSoup },
);
