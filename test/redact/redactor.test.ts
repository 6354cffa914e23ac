// The redactor as its callers see it: known values in every form, formats inside other formats, bytes, parts, markers.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillTemplate, seededRandom } from "../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../src/redact/redact.ts";
import { surroundingsOf } from "../../src/redact/window.ts";

const sample = (template: string, seed = 1) => fillTemplate(template, seededRandom(seed)).text;
const plain = createRedactor();
const TOKEN = sample("ghp_{checked}");

describe("a known value", () => {
  const value = 'Kx7/+é "quoted" & p@ss=w0rd';
  const redactor = createRedactor({ known: [{ rule: "env-deploy", value }] });
  const bytes = Buffer.from(value);

  test.each([
    ["as it is", value],
    ["in base64", bytes.toString("base64")],
    ["in base64 behind one byte", Buffer.concat([Buffer.from("x"), bytes, Buffer.from("tail")]).toString("base64")],
    ["in base64 behind two bytes", Buffer.concat([Buffer.from("xy"), bytes, Buffer.from("tail")]).toString("base64")],
    ["in base64url", bytes.toString("base64url")],
    ["in lower-case hexadecimal", bytes.toString("hex")],
    ["in upper-case hexadecimal", bytes.toString("hex").toUpperCase()],
    ["escaped for an address", encodeURIComponent(value)],
    ["escaped for an address in lower case", encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase())],
    ["escaped for a form", new URLSearchParams({ v: value }).toString().slice(2)],
    ["escaped for JSON", JSON.stringify(value).slice(1, -1)],
    ["escaped for JSON twice", JSON.stringify(JSON.stringify(value)).slice(3, -3)],
    ["escaped for JSON in ASCII", JSON.stringify(value).slice(1, -1).replace("é", "\\u00e9")],
  ])("is hidden %s", (_, form) => {
    const redacted = redactor.redact(`before ${form} after`);
    expect(redacted.text).toMatch(/^before .{0,4}\[REDACTED:env-deploy\].{0,8} after$/);
    expect(redacted.findings).toEqual([expect.objectContaining({ rule: "env-deploy", kind: "definite" })]);
    expect(plain.redact(`before ${form} after`).text).toContain(form); // control: it has no format of its own
  });

  test("is hidden in bytes too", () => {
    const { bytes: out } = redactor.redactBytes(
      Buffer.concat([Buffer.from([0xff, 0xfe, 0x80]), bytes, Buffer.from([0xc3])]),
    );
    expect(Buffer.from(out)).toEqual(
      Buffer.concat([Buffer.from([0xff, 0xfe, 0x80]), Buffer.from("[REDACTED:env-deploy]"), Buffer.from([0xc3])]),
    );
  });

  test("of one call is hidden in that call alone", () => {
    const extra = [{ rule: "session-token", value: "opaque-handle-one" }];
    expect(plain.redact("a opaque-handle-one b", extra).text).toBe("a [REDACTED:session-token] b");
    expect(plain.redact("a opaque-handle-one b").text).toBe("a opaque-handle-one b");
    expect(plain.redact("nothing", [{ rule: "empty", value: "" }]).findings).toEqual([]);
  });

  test("of several lines is hidden line by line", () => {
    const key = `first line of a key 0123456789\nsecond line of it abcdefghij\n`;
    const known = createRedactor({ known: [{ rule: "env-key", value: key }] });
    expect(known.redact("  > second line of it abcdefghij\n").text).toBe("  > [REDACTED:env-key]\n");
  });
});

test.each(["пароль-секрет", "密码密码密码密码", "é1é2é3é4"])(
  "a known value in other letters, %s, is hidden in text and bytes",
  (value) => {
    const redactor = createRedactor({ known: [{ rule: "env-x", value }] });
    expect(redactor.redact(`a ${value} b`).text).toBe("a [REDACTED:env-x] b");
    expect(Buffer.from(redactor.redactBytes(Buffer.from(`a ${value} b`)).bytes).toString()).toBe(
      "a [REDACTED:env-x] b",
    );
    // Longer texts are searched in several places at once.
    for (let before = 500; before < 2000; before += 7) {
      const around = [".".repeat(before), "-".repeat(600)];
      expect(redactor.redact(around.join(value)).text).toBe(around.join("[REDACTED:env-x]"));
      expect(Buffer.from(redactor.redactBytes(Buffer.from(around.join(value))).bytes).toString()).toBe(
        around.join("[REDACTED:env-x]"),
      );
    }
  },
);

test("a known value of a character or three is not hidden: every text has it", () => {
  expect(
    createRedactor({
      known: [
        { rule: "env-x", value: "a" },
        { rule: "env-y", value: "yes" },
      ],
    }).redact("a yes").text,
  ).toBe("a yes");
});

test("a clean text and clean bytes come back as the same objects", () => {
  const text = "nothing to hide here: a b c".repeat(40);
  const bytes = Buffer.from(text);
  expect(plain.redact(text).text).toBe(text);
  expect(plain.redactBytes(bytes).bytes).toBe(bytes);
  expect(plain.redact(text).findings).toEqual([]);
});

test("findings count UTF-16 code units of the original", () => {
  const text = `🙂é ${TOKEN} x`;
  expect(plain.find(text)).toEqual([{ rule: "github-token", kind: "definite", start: 4, end: 4 + TOKEN.length }]);
});

describe("a secret inside of something else", () => {
  const jsonInJson = JSON.stringify({ log: JSON.stringify({ token: TOKEN }) });
  test.each([
    ["JSON inside of JSON", jsonInJson],
    ["a string of JSON behind a line end", `"first\\n${TOKEN}\\n"`],
    ["a parameter of an address", `https://h/cb?state=1&access_token=${TOKEN}#x`],
    ["an escaped parameter of an address", `next=https%3A%2F%2Fh%2F%3Ft%3D${TOKEN}%26x%3D1`],
    ["coloured output of a terminal", `\x1b[32m${TOKEN}\x1b[0m`],
    ["a match that grep colours", `a\x1b[01;31m\x1b[K${TOKEN}\x1b[m\x1b[K`],
    ["behind a reset as tput writes it", `x\x1b[m\x1b(B${TOKEN}`],
    ["coloured output as JSON has it", `{"line":"\\u001b[32m${TOKEN}\\u001b[0m"}`],
    ["YAML", `steps:\n  - env:\n      GH: ${TOKEN}\n`],
    ["base64 of a configuration", Buffer.from(`[default]\nname = x\nkey = ${TOKEN}\n`).toString("base64")],
    ["base64url", Buffer.from(`{"key":"${TOKEN}"}`).toString("base64url")],
    ["a line of a diff", `-GITHUB=${TOKEN}\n+GITHUB=\n`],
    ["an environment as the system shows it", `A=1\0GITHUB_TOKEN=${TOKEN}\0B=2\0`],
  ])("is found in %s", (_, text) => {
    const redacted = plain.redact(text);
    expect(redacted.text).toContain("[REDACTED:github-token]");
    expect(redacted.text).not.toContain(TOKEN);
    expect(Buffer.from(redacted.text, "base64").toString("latin1")).not.toContain(TOKEN);
  });

  test("a private key in YAML goes as a whole, with its indentation", () => {
    const key = sample("-----BEGIN PRIVATE KEY-----\n{pem}\n-----END PRIVATE KEY-----").replaceAll("\n", "\n    ");
    expect(plain.redact(`tls:\n  key: |\n    ${key}\n  cert: x\n`).text).toBe(
      "tls:\n  key: |\n    [REDACTED:private-key]\n  cert: x\n",
    );
  });

  test("a private key in a Kubernetes secret is found through its base64", () => {
    const key = Buffer.from(sample("-----BEGIN RSA PRIVATE KEY-----\n{pem}\n-----END RSA PRIVATE KEY-----\n")).toString(
      "base64",
    );
    const redacted = plain.redact(`data:\n  tls.key: ${key}\n`);
    expect(redacted.text).toBe("data:\n  tls.key: [REDACTED:private-key]\n");
  });
});

test("findings that overlap become one, and the definite one names it", () => {
  const text = `password=${TOKEN}`;
  expect(plain.find(text)).toEqual([{ rule: "github-token", kind: "definite", start: 9, end: text.length }]);
});

describe("bytes", () => {
  const interleave = (text: string) => Buffer.from(text, "utf16le");
  const swap = (bytes: Buffer) => Buffer.from(bytes).swap16();
  const line = `key = ${TOKEN} # end\n`;
  const hidden = "key = [REDACTED:github-token] # end\n";

  test("in UTF-16 of both byte orders are redacted in UTF-16", () => {
    const little = Buffer.concat([Buffer.from([0xff, 0xfe]), interleave(line)]);
    const big = Buffer.concat([Buffer.from([0xfe, 0xff]), swap(interleave(line))]);
    expect(Buffer.from(plain.redactBytes(little).bytes)).toEqual(
      Buffer.concat([Buffer.from([0xff, 0xfe]), interleave(hidden)]),
    );
    expect(Buffer.from(plain.redactBytes(big).bytes)).toEqual(
      Buffer.concat([Buffer.from([0xfe, 0xff]), swap(interleave(hidden))]),
    );
  });

  test("of a program with a secret inside are changed there alone", () => {
    const random = seededRandom(5);
    const noise = Buffer.from(Array.from({ length: 4000 }, () => random(256)));
    const binary = Buffer.concat([
      noise,
      Buffer.from([0, 0]),
      interleave(TOKEN),
      Buffer.from([0, 0]),
      noise,
      Buffer.from(`\0${TOKEN}\0`),
    ]);
    const { bytes, findings } = plain.redactBytes(binary);
    expect(findings.map(({ rule }) => rule)).toEqual(["github-token", "github-token"]);
    const out = Buffer.from(bytes);
    expect(out.subarray(0, noise.length)).toEqual(noise);
    expect(out.includes(TOKEN) || out.includes(interleave(TOKEN))).toBe(false);
    expect(out.includes(noise, noise.length)).toBe(true);
  });

  test("without a secret are left as they are, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const redacted = plain.redactBytes(bytes);
        if (redacted.findings.length === 0) expect(redacted.bytes).toBe(bytes);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a part of a text", () => {
  const text = `${"a ".repeat(50)}${TOKEN} ${"b ".repeat(50)}`;
  const from = text.indexOf(TOKEN);

  test.each([
    ["whole inside", from - 2, from + TOKEN.length + 2, "a [REDACTED:github-token] b"],
    ["cut at the end", from - 2, from + 12, "a [REDACTED:github-token]"],
    ["cut at the beginning", from + 30, from + TOKEN.length + 2, "[REDACTED:github-token] b"],
    ["larger than the part", from + 8, from + 20, "[REDACTED:github-token]"],
    ["outside", from - 4, from, "a a "],
  ])("hides a secret that is %s", (_, start, end, expected) => {
    expect(plain.redactWindow(text, { start, end }).text).toBe(expected);
  });

  test("is read with four KiB around it, as far as there are", () => {
    expect(surroundingsOf(10_000, 12_000, 13_000)).toEqual({ from: 5904, to: 13_000 });
    expect(surroundingsOf(10, 20, 100_000)).toEqual({ from: 0, to: 4116 });
  });

  test("control: the part alone would show the rest of the secret", () => {
    expect(plain.redact(text.slice(from + 30, from + TOKEN.length + 2)).text).toBe(
      text.slice(from + 30, from + TOKEN.length + 2),
    );
  });
});

test("an allowance lets a finding pass, but never a known secret", () => {
  const allow = {
    allows: (rule: string, secret: string) => rule === "github-token" && secret === TOKEN,
    definition: "",
  };
  expect(createRedactor({ allow }).redact(`x ${TOKEN}`).text).toBe(`x ${TOKEN}`);
  expect(createRedactor({ allow, known: [{ rule: "env-gh", value: TOKEN }] }).redact(`x ${TOKEN}`).text).toBe(
    "x [REDACTED:env-gh]",
  );
});

test.each([
  ["hashes", `sha256:${sample("{h64}")} commit ${sample("{h40}")}`],
  ["the integrity of a lock file", `"integrity": "sha512-${sample("{b86}")}=="`],
  ["identifiers", `"id": "${sample("{uuid}")}", "traceId": "${sample("{h32}")}"`],
  ["an image", `<img src="data:image/png;base64,${sample("{b400}")}">`],
  ["minified code", "function(t,e){var n=t.token,r=e.secret||n.password;return n&&r?a(n,{key:t.apiKey}):null}"],
  [
    "placeholders",
    "password: <password>\ntoken=$TOKEN\nAPI_KEY=changeme\nsecret: \x24{SECRET}\nkey: xxxxxxxxxxxxxxxx\n",
  ],
  ["documentation", "Set the `password` and `token` options. The secret: keep it. Bearer authentication uses tokens."],
])("%s are no secrets", (_, text) => {
  expect(plain.find(text)).toEqual([]);
});
