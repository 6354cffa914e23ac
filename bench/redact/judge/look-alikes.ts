/** Values that are no secret but look like one or stand where one would: each finding in them is false. */
import { createHash } from "node:crypto";
import { fill, type RandomIndex } from "./template.ts";

/** A text without a secret. */
export interface Innocent {
  readonly title: string;
  readonly write: (random: RandomIndex) => string;
}

const NAMES = ["API_KEY", "password", "DB_PASSWORD", "secret", "access_token", "clientSecret"] as const;
const REFERENCES = `
\${VAR}
$DB_PASS
\${{ secrets.TOKEN }}
{{ .Values.password }}
<your-key>
<password>
YOUR_API_KEY
your-secret-here
changeme
********
xxxxxxxxxxxxxxxx
process.env.API_KEY
os.environ['TOKEN']
os.getenv("TOKEN")
ENV['SECRET']
System.getenv("KEY")
config.password
null
true
string
vault:secret/data/app#key
ssm:/prod/db/password
!Ref DbPassword
var.db_password
%env(DB_PASSWORD)%
/run/secrets/db_password
[REDACTED]
example
...
`
  .trim()
  .split("\n");
const text = (title: string, template: string): Innocent => ({
  title,
  write: (random) => fill(template, random).value,
});
const digest = (random: RandomIndex, name: string) => createHash(name).update(String(random(2 ** 31)));

/** All of them. */
export const INNOCENTS: readonly Innocent[] = [
  ...REFERENCES.flatMap((value) =>
    NAMES.map((name): Innocent => ({ title: `placeholder or reference ${value}`, write: () => `${name}: ${value}\n` })),
  ),
  text("UUID", "request {U} done\n"),
  text("UUID as id", '{"id":"{U}","requestId":"{U}"}\n'),
  text("commit id", "commit {x40}\nAuthor: A <a@example.com>\n"),
  text("short commit id", "checkout {x12} -> main\n"),
  text("commit in a URL", "https://github.com/acme/app/commit/{x40}\n"),
  text("action pinned by commit", "uses: actions/checkout@{x40} # v4\n"),
  text("image digest", "image: nginx@sha256:{x64}\n"),
  text("etag", 'ETag: "{x32}"\n'),
  text("trace id", "traceparent: 00-{x32}-{x16}-01\n"),
  text("request id in a log", "2026-03-04T10:11:12Z INFO req_id={w24} GET /v1 200\n"),
  text("X-Request-Id", "X-Request-Id: {x32}\n"),
  text("session of a log by UUID", "session={U} user=alice\n"),
  text("object id", '{"_id":"{x24}"}\n'),
  text("ULID", "event 01{B24}\n"),
  text("public ssh key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} me@host\n"),
  text("certificate fingerprint", "SHA256:{b43}\n"),
  text("source map mapping", '{"mappings":"AAAA,SAASA,GAAGC,{m4},CAACC,MAAM;AACf,IAAI"}\n'),
  text("image in base64", "url(data:image/png;base64,iVBORw0KGgo{b200}==)\n"),
  text("Google Analytics id", "G-{u10}\n"),
  text("AWS ARN", "arn:aws:iam::{d12}:role/deploy-prod\n"),
  text("Ethereum address", "address 0x{x40}\n"),
  text("primary key", "primary_key: user_id\nsort_key: created_at\nforeign_key: order_id\n"),
  text("token counts", "max_tokens: 4096\ntoken_count=1812\npassword_min_length: 12\n"),
  text("file beside its digest", "{x64}  dist/app-1.2.3.tar.gz\n"),
  text("chunk name", '<script src="/assets/index-{s8}.js"></script>\n'),
  text("class names", "const passwordField = document.querySelector('#password-input');\n"),
  text("function for passwords", "function resetPassword(token: string, password: string): Promise<void> {\n"),
  text("type of a token", "type TokenKind = 'access_token' | 'refresh_token';\n"),
  text("prose on passwords", "The password must be at least twelve characters; the API key is shown once.\n"),
  {
    title: "npm integrity",
    write: (random) => `"integrity": "sha512-${digest(random, "sha512").digest("base64")}",\n`,
  },
  {
    title: "Go checksum",
    write: (random) => `golang.org/x/net v0.1.0 h1:${digest(random, "sha256").digest("base64")}\n`,
  },
  { title: "pip hash", write: (random) => `    --hash=sha256:${digest(random, "sha256").digest("hex")}\n` },
  { title: "Cargo checksum", write: (random) => `checksum = "${digest(random, "sha256").digest("hex")}"\n` },
  {
    title: "script integrity",
    write: (random) => `<script integrity="sha384-${digest(random, "sha384").digest("base64")}">\n`,
  },
];
