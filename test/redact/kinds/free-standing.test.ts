// Random tokens that no name announces: what is found, what is left alone, and who decides the bar.
import { describe, expect, test } from "vitest";
import { USUAL_BAR } from "../../../src/redact/kinds/free-standing.ts";
import { fillTemplate, seededRandom } from "../../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { builtInRules, withBar } from "../../../src/redact/rule-set.ts";

const redactor = createRedactor();
const random = seededRandom(11);
const sample = (template: string) => fillTemplate(template, random).text;
const rules = (text: string) => redactor.find(text).map(({ rule, kind }) => `${kind} ${rule}`);

test.each([
  ["{a24}", 150],
  ["{a32}", 180],
  ["{u43}", 180],
  ["{b64}", 180],
  ["{a128}", 180],
  ["{u240}", 180],
])("of 200 tokens %s drawn by chance, at least %d are probable findings, none is definite", (template, least) => {
  const found = Array.from({ length: 200 }, () => rules(`the server said ${sample(template)} and went on`));
  expect(found.filter(([first]) => first === "probable random-token").length).toBeGreaterThanOrEqual(least);
  expect(found.flat().filter((each) => each.startsWith("definite"))).toEqual([]);
});

describe("is left alone", () => {
  test.each([
    ["a commit", "commit {h40}"],
    ["a UUID", "job {uuid} began"],
    ["a digest beside a file", "{h64}  release.tar.gz"],
    ["the integrity of a lock file", '"integrity": "sha512-{b86}=="'],
    ["an image", "data:image/png;base64,iVBORw0KGgo{b64}"],
    ["lines of data", "{b64}\n{b64}\n{b64}"],
    ["a public key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} a@example.org"],
    ["a certificate", "-----BEGIN CERTIFICATE-----\n{b64}\n{b64}\n-----END CERTIFICATE-----"],
    ["a tag of a cache", 'ETag: "{u43}"'],
    ["a request's id", "request_id={u32} status=200"],
    ["a part of a path", "/assets/{a32}/index.js"],
    ["a part of an address", "https://cdn.example.org/{a32}.js"],
    ["what is longer than a token", "{u300}"],
    ["names of a program", "export const CallToolAsTaskRequestV1Schema = XF86VidModeLockModeSwitch;"],
    ["a cursor", "nextPageToken: {a40}"],
    ["an id of the kernel", "handrail sessions resume ses_{u22}"],
  ])("%s", (_, template) => {
    for (let time = 0; time < 20; time += 1) expect(rules(sample(template))).toEqual([]);
  });
});

test("a text in pieces gives the same as the whole, wherever it is cut", () => {
  const text = `x ${sample("{a48}")} y ${sample("{u300}")} z\n${sample("{b64}")}\n${sample("{u43}")}= end ${sample("{a30}")}`;
  const whole = redactor.redact(text).text;
  expect(whole).toContain("random-token");
  for (let cut = 0; cut <= text.length; cut += 1) {
    const stream = redactor.stream();
    expect(stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.end()).toBe(whole);
  }
});

test("the operator raises the bar, or looks for none", () => {
  const text = `the value is ${sample("{a32}")}`;
  const by = (bar: typeof USUAL_BAR | undefined) => createRedactor({ rules: withBar(builtInRules(), bar) });
  expect(by(USUAL_BAR).find(text)).toHaveLength(1);
  expect(by({ ...USUAL_BAR, charactersMin: 40 }).find(text)).toEqual([]);
  expect(by({ ...USUAL_BAR, bitsMin: 5.5 }).find(text)).toEqual([]);
  expect(by(undefined).find(text)).toEqual([]);
  const key = new Uint8Array(32);
  expect(by(undefined).digest(key)).not.toBe(by(USUAL_BAR).digest(key));
});

test("an allowance of the operator lets one pass", () => {
  const token = sample("{a48}");
  const allow = {
    allows: (rule: string, secret: string) => rule === "random-token" && secret === token,
    definition: "",
  };
  expect(createRedactor({ allow }).find(`the value is ${token}`)).toEqual([]);
  expect(redactor.find(`the value is ${token}`)).toHaveLength(1);
});
