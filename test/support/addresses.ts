/** Spellings of addresses with a password that `new URL` takes. */
import fc from "fast-check";

/** A password that looks chosen by chance, put together so that no file holds one. */
export const PASSWORD = ["h7Kq", "pLw2", "Zx9v", "R3tB"].join("");

/** Where `PW` stands, the password. */
export const SPELLINGS: readonly string[] = [
  "https:bob:PW@example.org/x",
  "https:\\\\bob:PW@example.org/x",
  "https:/bob:PW@h",
  "https:/\\bob:PW@h",
  "HTTP:bob:PW@h",
  "ftp:bob:PW@h",
  "ws:bob:PW@h",
  "wss:\\bob:PW@h/y",
  "https:////////////////////////bob:PW@h",
  "https://bob@example.org:PW@h",
  "https://:PW@h",
  "https:bob:%PW@h",
  "postgres://bob:PW@h",
  "https://bob:PW@_h",
  "https://bob:PW@\u{e4}.example",
];

/** Parts of the password that are left in a text, whatever is dropped from it or written by its number. */
export function leftOf(text: string): readonly string[] {
  const dropped = text.replace(/[\t\n\r]|\\[tnr]/g, "");
  const plain = dropped.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const parts = Array.from({ length: PASSWORD.length - 4 }, (_, at) => PASSWORD.slice(at, at + 5));
  return parts.filter((part) => [dropped, plain].some((one) => one.toLowerCase().includes(part.toLowerCase())));
}

const SCHEMES = ["http", "https", "ftp", "ws", "wss", "HTTPS", "hTTp", "postgres", "git+ssh", "foo"];
const SLASHES = ["//", "", "/", "\\\\", "\\/", "/\\", "///", "\\", "////\\\\//"];
const USERS = ["bob", "", "a@b.example", "bo b", 'b"b', "b%3Ab", "b'", "x".repeat(200)];
const HOSTS = ["h", "example.org", "127.0.0.1", "[::1]", "_h", "\u{e4}.example", "%68ost", "h:8080", "a-b.c."];
const ENDS = ["", "/", "/x/y@z", "?a=b@c", "#f", "\\x", "/a b:c@d"];
/** What a password may have between its characters. */
const ODD = ["", "", "", "@", ":", " ", '"', "'", "<", "`", "{", "|", "$", "^", "%", "%40", "(", "[", ",", ";"];

/** Addresses with that password, which `new URL` takes. */
export function addressOf(): fc.Arbitrary<string> {
  const pick = (from: readonly string[]) => fc.constantFrom(...from);
  const parts = fc.tuple(pick(SCHEMES), pick(SLASHES), pick(USERS), pick(HOSTS), pick(ENDS));
  const inside = fc.tuple(pick(ODD), pick(ODD), fc.nat({ max: PASSWORD.length }), fc.boolean());
  const drops = fc.array(fc.tuple(fc.nat({ max: 60 }), pick(["\t", "\n", "\r"])), { maxLength: 2 });
  return fc
    .tuple(parts, inside, drops, pick(["", "", " ", "\u{1}"]))
    .map(([[scheme, slashes, user, host, end], [before, within, at, isNumbered], dropped, lead]) => {
      const number = (text: string) => `%${text.charCodeAt(0).toString(16).padStart(2, "0")}${text.slice(1)}`;
      const password = isNumbered ? number(PASSWORD) : PASSWORD;
      const whole = before + password.slice(0, at) + within + password.slice(at);
      let text = `${lead}${scheme}:${slashes}${user}:${whole}@${host}${end}`;
      for (const [place, character] of dropped) text = text.slice(0, place) + character + text.slice(place);
      return text;
    })
    .filter((text) => isHidden(URL.parse(text)?.password ?? ""));
}

/** What could be the name of a variable is taken for one. */
function isHidden(password: string): boolean {
  return password !== "" && !/^(?:\$\w+|%\w+%)$/.test(password);
}
