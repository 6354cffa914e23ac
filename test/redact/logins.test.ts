// Logins of addresses in every spelling that browsers take: nothing of the password is left.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../src/redact/redact.ts";
import { addressOf, leftOf, PASSWORD, SPELLINGS } from "../support/addresses.ts";
import { searching } from "../support/thorough.ts";
import { piecesOf } from "../support/turns.ts";

const redactor = createRedactor();

/** The text as a call hides it whose argument it is. */
function hiddenAsArgument(text: string): string {
  const secrets = redactor.loginSecrets(text).map(({ rule, value }) => ({ rule, value }));
  return redactor.redact(text, secrets).text;
}

test("whatever is an address with a password shows nothing of it, as an argument and as a path", () => {
  let odd = 0;
  fc.assert(
    fc.property(addressOf(), (address) => {
      if (redactor.find(address).length === 0) odd += 1;
      for (const shown of [hiddenAsArgument(address), redactor.shownPath(address)])
        expect([shown, leftOf(shown)]).toEqual([shown, []]);
    }),
    { numRuns: searching({ shortly: 3000, thoroughly: 200_000 }) },
  );
  expect(odd).toBeGreaterThan(0); // the control: the rule for any text does not know all of them
});

test.each(SPELLINGS)("%j hides its password wherever it stands in an argument", (spelling) => {
  const address = spelling.replace("PW", PASSWORD);
  expect(new URL(address).password).not.toBe("");
  for (const around of ["?", "docs/../?", "curl '?' -o x", "git clone ? && true", '{"url": "?"}', "\t ?\n"]) {
    const text = around.replace("?", () => address);
    expect([text, leftOf(hiddenAsArgument(text))]).toEqual([text, []]);
  }
});

test("what stands around a login stays", () => {
  expect(redactor.shownPath(`docs/ht\ttps:bob:${PASSWORD}@example.org/x`)).toBe(
    "docs/ht\ttps:bob:[REDACTED:url-password]@example.org/x",
  );
  const plain = "docs/a:b@c/https:bob@example.org";
  expect(redactor.shownPath(plain)).toBe(plain);
});

describe("no login is seen in", () => {
  test.each([
    "http://localhost:3000/@scope/x",
    'see http://localhost:3000 or mail "a@b.example"',
    "https://user:password@example.org",
    "git clone https://bob:$PASSWORD@h",
    "curl https://bob:$" + "{PASSWORD}@h",
    "https://bob:[REDACTED:url-password]@h",
    "note: bob@example.org",
    "http:8080:80@x",
    "a:b@c",
    "git@example.org:team/r.git",
    "npm:react@18.2.0",
    "https://example.org:8443?mail=a@b.example",
  ])("%j", (text) => {
    expect(redactor.loginSecrets(text)).toEqual([]);
  });
});

test("what may be prose in the next line is no more than probable", () => {
  const kinds = redactor
    .loginSecrets("http://localhost:3000\nsome prose, and then a@b.example")
    .map(({ kind }) => kind);
  expect(kinds).toEqual(["probable", "probable"]);
});

test("very many addresses are looked at in time that goes with the text", () => {
  const text = "http:".repeat(13_000);
  const pieces = piecesOf(() => {
    redactor.loginSecrets(`${text}@h`);
    redactor.loginSecrets(`${"a:".repeat(30_000)}@`);
    redactor.loginSecrets(`${"https://a ".repeat(6000)}@`);
  });
  expect(pieces).toBeLessThan(100);
});
