/**
 * Defines the section `secrets` of `handrail.yaml`: secrets that agents use and never see.
 *
 * Each has the name of the variable in which commands find its placeholder. INVARIANTS: a value stands nowhere in the
 * configuration, only where it is kept. Each secret is bound to servers that are named one by one, never by a pattern.
 * A workspace can set none.
 */
import * as z from "zod";
import { MAX_PATH_LEN } from "../../base/limits.ts";
import { SECRET_NAME, type SecretBinding, type SecretPlace } from "../../model/reach/secrets.ts";
import { REFUSED_NAMES } from "../../names/refused-environment.ts";
import { webAddress } from "../../names/web-address.ts";
import { server } from "./servers.ts";

/** Secrets that the operator can name, and bindings of one. */
const SECRETS_MAX = 128;
const SECRET_BINDINGS_MAX = 16;
/** Words of a command that prints a secret. */
const COMMAND_WORDS_MAX = 32;
/** Characters of a placeholder; a shorter one could be met by chance. */
const PLACEHOLDER_CHARACTERS_MIN = 16;
const PLACEHOLDER_CHARACTERS_MAX = 8192;

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}";
const HEADER = new RegExp(`^header (${TOKEN})$`);
const HMAC = new RegExp(`^hmac (${TOKEN}) (sha1|sha256|sha512)(?: (\\S{1,32}))?$`);
/** Headers that go further than the server, that programs fill by themselves, or that say how a message is sent. */
const NEVER =
  /^(?:cookie|referer|user-agent|host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect)$/i;

/** Where a secret stands, in words: `header Authorization`, `query key`, `basic`, `body a.b`, `aws AKIA…`. */
const place = z
  .string()
  .max(256)
  .transform((text, context): SecretPlace => {
    const found = placeOf(text);
    if (typeof found === "object") return found;
    context.addIssue({ code: "custom", message: found });
    return { kind: "basic" };
  });

/** The place that the words name, or what is wrong with them. */
function placeOf(text: string): SecretPlace | string {
  const [, header = ""] = HEADER.exec(text) ?? [];
  if (header !== "")
    return NEVER.test(header) ? `a secret never stands in \`${header}\`` : { kind: "header", name: header };
  const [, signed = "", hash, prefix = ""] = HMAC.exec(text) ?? [];
  if (NEVER.test(signed)) return `a secret never stands in \`${signed}\``;
  if (hash === "sha1" || hash === "sha256" || hash === "sha512") return { kind: "hmac", name: signed, hash, prefix };
  const [kind = "", name = "", more] = text.split(" ");
  if (more === undefined && name !== "" && (kind === "query" || kind === "body")) return { kind, name };
  if (more === undefined && kind === "aws" && /^[A-Z0-9]{16,128}$/.test(name)) return { kind, accessKeyId: name };
  if (text === "basic") return { kind: "basic" };
  return "must be `header NAME`, `query NAME`, `basic`, `body NAME`, `aws ACCESS-KEY-ID` or `hmac HEADER sha256 [PREFIX]`";
}

const path = z
  .string()
  .max(MAX_PATH_LEN)
  .regex(/^\/[A-Za-z0-9._~!$&'()*+,=:@/-]*$/, "must be the beginning of paths, from `/` on, without escapes")
  .refine((text) => !/\/\/|\/\.{1,2}(?:\/|$)/.test(text), "must not hold `.`, `..` or an empty part");

const binding = z
  .strictObject({
    /** Server, as `api.example.com` or `api.example.com:8443`. */
    to: server,
    /** Requests at or below it alone. */
    path: path.default("/"),
    methods: z
      .array(z.string().regex(/^[A-Z]{1,16}$/, "must be a method, as in `GET`"))
      .min(1)
      .max(16)
      .optional(),
    in: place,
    /** A header that the kernel adds where the request has none, with `{}` for the value. */
    add: z
      .string()
      .max(256)
      .regex(/^[\x20-\x7e]*\{\}[\x20-\x7e]*$/, "must hold `{}`, where the value goes")
      .optional(),
  })
  .refine(({ add, in: { kind } }) => add === undefined || kind === "header", {
    path: ["add"],
    message: "goes with `in: header NAME` alone",
  })
  .transform(
    ({ to, path: below, methods, in: where, add }): SecretBinding => ({
      ...to,
      path: below,
      place: where,
      ...(methods && { methods }),
      ...(add !== undefined && { added: add }),
    }),
  );

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "must be the name of a variable");
const word = z
  .string()
  .max(MAX_PATH_LEN)
  .regex(/^[^\0]*$/, "must not hold NUL");

/** Where a value is kept that does not change by itself. */
const plainKinds = [
  z.strictObject({ env: variable }),
  z.strictObject({ file: z.string().startsWith("/", "must be an absolute path").max(MAX_PATH_LEN) }),
  /** A program, by its absolute path, with arguments; it prints the value. */
  z.strictObject({
    command: z
      .array(word)
      .min(1)
      .max(COMMAND_WORDS_MAX)
      .refine(([program = ""]) => program.startsWith("/"), "must begin with the absolute path of a program"),
  }),
  /** An entry of the keyring of the user who runs the kernel. */
  z.strictObject({ keyring: z.string().min(1).max(256) }),
] as const;
const plainSource = z.union(plainKinds);

/** A server that gives tokens for a while, for what is kept (RFC 6749 §4.4, §6). */
const oauth = z.strictObject({
  token_url: z
    .string()
    .max(2048)
    .refine((text) => {
      const address = webAddress(text);
      return !("problem" in address) && address.scheme === "https";
    }, "must be an address that begins with `https`"),
  client_id: z.string().min(1).max(1024),
  client_secret: plainSource.optional(),
  /** Whether the client says who it is by `Authorization: Basic`, or in the body. */
  client_auth: z.enum(["basic", "body"]).default("basic"),
  /** Without one the client gets tokens for itself. */
  refresh_token: plainSource.optional(),
  scope: z
    .string()
    .max(1024)
    .regex(/^[!-~ ]+$/, "must be of printable characters")
    .optional(),
});

const source = z.union([...plainKinds, z.strictObject({ oauth })]);

const secret = z.strictObject({
  from: source,
  placeholder: z
    .string()
    .min(PLACEHOLDER_CHARACTERS_MIN)
    .max(PLACEHOLDER_CHARACTERS_MAX)
    .regex(/^[!-~]+$/, "must be of printable characters without blanks"),
  bindings: z.array(binding).min(1).max(SECRET_BINDINGS_MAX),
});

/** The schema of `secrets`. */
export const secretSettings = z
  .record(
    z
      .string()
      .regex(SECRET_NAME, "must be the name of a variable")
      .refine(
        (name) => !REFUSED_NAMES.has(name) && !/^(?:LD_|AWS_ACCESS_KEY_ID$)/.test(name),
        "is a variable with a meaning of its own; choose another name",
      ),
    secret,
  )
  .refine((all) => Object.keys(all).length <= SECRETS_MAX, `holds more than ${SECRETS_MAX} secrets`)
  .superRefine((all, context) => {
    const known = new Map<string, string>();
    for (const [name, { placeholder }] of Object.entries(all)) {
      const other = [...known].find(([earlier]) => earlier.includes(placeholder) || placeholder.includes(earlier))?.[1];
      if (other !== undefined)
        context.addIssue({
          code: "custom",
          path: [name, "placeholder"],
          message: `is that of \`${other}\`, or a part of it`,
        });
      known.set(placeholder, name);
    }
  });

/** Secrets by their names. */
export type SecretSettings = z.infer<typeof secretSettings>;
/** One secret. */
export type OneSecretSettings = SecretSettings[string];
/** Where a value is kept. */
export type SecretSource = OneSecretSettings["from"];
/** Where a value is kept that does not change by itself. */
export type PlainSource = z.infer<typeof plainSource>;
/** A server that gives tokens. */
export type OAuthSource = z.infer<typeof oauth>;
