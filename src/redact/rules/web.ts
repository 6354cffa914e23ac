/** Secrets of the web: tokens that describe themselves, logins in addresses and headers, hashes of passwords. */
import { isWeakPassword, judgeCertain, judgePassword, URL_PASSWORD } from "../kinds/address-login.ts";
import { isTokenHeader } from "../kinds/checksum.ts";
import { distinctCharacters, entropyOf, isCalledStandIn, isReference, looksLikeStandIn } from "../kinds/entropy.ts";
import type { Rule } from "../kinds/rule.ts";
import type { FindingKind } from "../search/finding.ts";

/** The parts of a login as text has them: quotes, brackets and slashes end an address there. */
const USER = "[^\\s/:?#\"'<>`\\\\]{0,128}";
const PASSWORD = "[^\\s/@\"'<>`\\\\]{0,255}(?:@[^\\s/@\"'<>`\\\\()[\\]{}|,;&]{0,64}){0,3}";
const HOST = "[^\\s/?#@:\"'<>`,;)\\]}|\\\\]";

/** Rules for addresses, headers and self-describing tokens. */
export const WEB_RULES: readonly Rule[] = [
  {
    id: "jwt",
    kind: "definite",
    title: "a JSON Web Token",
    keywords: ["eyJ"],
    expression:
      "eyJ[A-Za-z0-9_-]{10,1000}\\.[A-Za-z0-9_-]{10,2500}\\.[A-Za-z0-9_-]{0,700}(?:\\.[A-Za-z0-9_-]{0,1000}\\.[A-Za-z0-9_-]{10,64})?",
    left: "token",
    check: (secret) => (isTokenHeader(secret.split(".")[0] ?? "") ? "definite" : undefined),
    examples: {
      positive: ["{jwt}", "Authorization: Bearer {jwt}", "?id_token={jwt}&state=1", '{\\"t\\":\\"{jwt}\\"}'],
      negative: ["eyJ", "eyJhbGciOiJIUzI1NiJ9", "eyJmb28iOiJiYXIifQ", "eyJhbGciOi..."],
    },
  },
  {
    id: URL_PASSWORD,
    kind: "definite",
    title: "a password in an address",
    keywords: [":/", ":\\/", "http:", "https:", "ftp:", "ws:", "wss:"],
    // Paths of files have fewer slashes, or more, than the address that they are made of; and where browsers know the
    // scheme, they take any. Both names and passwords have an `@` now and then.
    expression: `(?:(?<![A-Za-z0-9])(?:https?|ftp|wss?):(?!\\\\?/)[\\\\/]{0,15}|:\\\\?/[\\\\/]{0,15})${USER}:(${PASSWORD})@${HOST}`,
    caseInsensitive: true,
    left: "any",
    check: (secret) => judgePassword(secret),
    examples: {
      positive: [
        "postgres://app:{a18}@db.internal:5432/x",
        "DATABASE_URL=mysql://root:{a14}@h/x",
        "https://deploy:{a20}@git.example.org/r.git",
        "redis://:{a24}@cache:6379",
        "https:/bob:{a20}@example.org/x",
        "a/https:///bob:{a20}@h",
        "postgres:/u:{a18}@h/db",
        "https:bob:{a20}@example.org/x",
        "x/HTTPS:\\\\bob:{a20}@h",
        "ws:/\\bob:{a20}@h",
        '"https:\\/\\/bob:{a20}@h\\/x"',
        "https://bob@example.org:{a20}@git.example.org/r.git",
        "ftp://bob:{a10}@{a10}@ä.example",
      ],
      negative: [
        "https://user:password@example.org",
        "postgres://user:\x24{PASSWORD}@h",
        "http://localhost:3000/@scope/x",
        "mongodb://u:<password>@h",
        "https://a.b:443/c@d",
        "C:/Users/a:b@c",
        "C:\\Users\\a:b77xyz@c",
        "it follows:bob:said1@noon",
        "the https: scheme, bob@example.org",
        '{"url":"http://localhost:3000","mail":"bob@example.org"}',
        "ssh://git@example.org:7999/team/r.git",
        "https://bob@example.org:8443/x@y",
        "http:8080:80@x",
      ],
    },
  },
  {
    id: "url-token",
    kind: "probable",
    title: "a token as the user of an address",
    keywords: [":/"],
    expression: ":/{1,8}([A-Za-z0-9_.~%-]{20,255})@[A-Za-z0-9.[-]",
    left: "any",
    check: (secret) =>
      /\d/.test(secret) && /[a-zA-Z]/.test(secret) && entropyOf(secret) > 3.5 && !secret.includes(".")
        ? "probable"
        : undefined,
    examples: {
      positive: ["https://{a40}@git.example.org/r.git", "https:/{a40}@git.example.org/r.git"],
      negative: ["https://git@github.com/x", "ssh://continuous-integration@host"],
    },
  },
  {
    id: "bearer-token",
    kind: "definite",
    title: "a bearer token in a header",
    keywords: ["bearer "],
    expression: "Bearer\\s{1,4}([A-Za-z0-9_.~+/=:-]{16,2048})",
    caseInsensitive: true,
    check: (secret) => (isRandom(secret) ? "definite" : undefined),
    examples: {
      positive: ["Authorization: Bearer {a40}", "curl -H 'authorization: bearer {h64}'", '"Bearer {u32}"'],
      negative: [
        "Bearer token authentication",
        "Bearer authentication-and-authorization",
        "Bearer \x24{TOKEN}",
        "bearer realm=example.org/path",
      ],
    },
  },
  {
    id: "basic-login",
    kind: "definite",
    title: "a login in a header",
    keywords: ["basic "],
    expression: "Basic\\s{1,4}([A-Za-z0-9+/]{8,400}={0,2})(?![A-Za-z0-9+/=_-])",
    caseInsensitive: true,
    check: isLogin,
    examples: {
      positive: [
        `Authorization: Basic ${Buffer.from("deploy:wK3-vv9Qz1").toString("base64")}`,
        `"basic ${Buffer.from("ci:0f8a7b6c5d4e").toString("base64")}"`,
      ],
      negative: ["Basic authentication", "basic configuration of the server", "Basic dXNlcjpwYXNzd29yZA=="],
    },
  },
  {
    id: "token-header",
    kind: "definite",
    title: "a token in a header",
    keywords: ["token "],
    expression: "Authorization[\"']?\\s{0,3}[:=,]\\s{0,3}[\"']?token\\s{1,3}([A-Za-z0-9_.=-]{16,512})",
    caseInsensitive: true,
    offset: 15,
    left: "any",
    check: (secret) => (isRandom(secret) ? "definite" : undefined),
    examples: {
      positive: ["Authorization: token {h40}"],
      negative: ["Authorization: token <token>", "Authorization: token authentication-scheme"],
    },
  },
  {
    id: "password-hash",
    kind: "probable",
    title: "a hash of a password",
    keywords: ["$2a$", "$2b$", "$2y$", "$apr1$", "$1$", "$5$", "$6$", "$y$", "$argon2"],
    expression:
      "\\$(?:2[aby]\\$\\d\\d\\$[A-Za-z0-9./]{53}|(?:apr1|1)\\$[A-Za-z0-9./]{1,8}\\$[A-Za-z0-9./]{22}|5\\$(?:rounds=\\d{1,9}\\$)?[A-Za-z0-9./]{1,16}\\$[A-Za-z0-9./]{43}|6\\$(?:rounds=\\d{1,9}\\$)?[A-Za-z0-9./]{1,16}\\$[A-Za-z0-9./]{86}|y\\$[A-Za-z0-9./]{1,8}\\$[A-Za-z0-9./]{1,24}\\$[A-Za-z0-9./]{43}|argon2(?:id|i|d)\\$v=\\d{1,3}\\$[a-z0-9=,]{1,40}\\$[A-Za-z0-9+/]{8,64}\\$[A-Za-z0-9+/]{16,128})",
    left: "any",
    examples: {
      positive: [
        "user:$2y$10\x24{a53}",
        "root:$6\x24{a12}\x24{a86}:19000:0",
        "x:$apr1\x24{a8}\x24{a22}",
        "$argon2id$v=19$m=65536,t=3,p=4\x24{b22}\x24{b43}",
      ],
      negative: ["costs $1$ and $5$", "$2y$10$", "$argon2id$"],
    },
  },
  {
    id: "signed-url",
    kind: "definite",
    title: "the signature of a signed address",
    keywords: ["x-amz-signature=", "x-goog-signature=", "x-amz-security-token="],
    expression: "X-(?:Amz-Signature|Goog-Signature|Amz-Security-Token)=([A-Za-z0-9%+/_]{32,1600})",
    caseInsensitive: true,
    left: "any",
    examples: {
      positive: [
        "https://b.s3.amazonaws.com/k?X-Amz-Credential=x&X-Amz-Signature={h64}",
        "X-Amz-Security-Token={a300}",
      ],
      negative: ["X-Amz-Signature=...", "the X-Amz-Signature parameter"],
    },
  },
  {
    id: "command-login",
    kind: "probable",
    title: "a login on a command line",
    keywords: [" -u ", "--user ", "--user=", "--proxy-user "],
    expression: "\\s?-(?:u|-user|-proxy-user)[\\s=][A-Za-z0-9_.@-]{1,64}:([^\\s\"'`<>$\\\\]{8,128})",
    left: "any",
    check: (secret) => (isCommandPassword(secret) && judgePassword(secret) ? "probable" : undefined),
    examples: {
      positive: ["curl -u admin:{a16} https://x", "curl --user=ci:{a20} https://x"],
      negative: [
        "docker run -u 1000:1000 x",
        "curl -u user:password x",
        "sort -u a:b",
        "socat -u TCP-LISTEN:80,fork x",
      ],
    },
  },
  {
    id: "command-login-quoted",
    kind: "probable",
    title: "a login in quotes on a command line",
    keywords: [" -u '", ' -u "', " -u'", ' -u"', "--user '", '--user "', "--user='", '--user="', "--proxy-user '"],
    expression: "\\s?-(?:u|-user|-proxy-user)[\\s=]?[\"'][A-Za-z0-9_.@-]{1,64}:([^\"'\\n]{6,128})[\"']",
    left: "any",
    check: (secret) =>
      isCommandPassword(secret) && !/ \$/.test(secret) && judgeCertain(secret) ? "probable" : undefined,
    examples: {
      positive: [
        "curl -u'bot:x{a8}{}y$1' https://x",
        "curl --user 'ci:{a20}' https://x",
        'curl --user "bot:{a6} {a6}" https://x',
      ],
      negative: ["curl -u 'user:password' x", 'curl -u "$USER:$PASSWORD" x', "docker run -u '1000:1000 1001' x"],
    },
  },
  {
    id: "jwk-private",
    kind: "definite",
    title: "the private part of a JSON Web Key",
    keywords: ['"d":', '"d" :', '"k":', '"k" :'],
    expression: '"[dk]"\\s?:\\s{0,4}"([A-Za-z0-9_-]{42,700})"',
    left: "any",
    check: (secret) =>
      entropyOf(secret) > 4.2 && /\d/.test(secret) && distinctCharacters(secret) > 20 ? "definite" : undefined,
    examples: {
      positive: ['{"kty":"EC","crv":"P-256","d":"{u43}"}', '{"kty":"oct","k":"{u64}"}'],
      negative: ['{"d":"M10 10 L20 20"}', '{"k":"value"}'],
    },
  },
];

/** Numbers of users and of ports stand there too. */
function isCommandPassword(secret: string): boolean {
  return /[A-Za-z]/.test(secret) && !/^\d+,/.test(secret) && (/\d/.test(secret) || secret.includes(" "));
}

function isRandom(secret: string): boolean {
  if (isReference(secret) || isCalledStandIn(secret)) return false;
  return entropyOf(secret) > 3 && /\d/.test(secret) && (/\d[A-Za-z]{1,12}\d/.test(secret) || entropyOf(secret) > 4.5);
}

/** Whether the text is base64 of a name, a colon and something that is not everybody's password. */
function isLogin(secret: string): FindingKind | undefined {
  const [, password] =
    /^[\x21-\x39\x3b-\x7e]{0,255}:([\x20-\x7e]{4,})$/.exec(Buffer.from(secret, "base64").toString("latin1")) ?? [];
  if (password === undefined || isWeakPassword(password)) return undefined;
  return looksLikeStandIn(password) ? "probable" : "definite";
}
