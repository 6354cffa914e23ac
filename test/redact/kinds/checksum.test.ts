/** The checksums of formats, against the examples of those who define them. */
import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  hasBase58Checksum,
  hasBech32Checksum,
  hasGitlabChecksum,
  hasGrafanaChecksum,
} from "../../../src/redact/kinds/checksum.ts";
import { createRedactor } from "../../../src/redact/redact.ts";

const WALLET =
  "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi";
const NOSTR = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5";
const GRAFANA = "glsa_HOruNAb7SOiCdshU9algkrq7FDsNSLAa_54e2f8be";
const routable = "glpat-bzox79Of-KE9FD2LjoXXF4CvyxA.01.0r";
const GITLAB = routable + crc32(routable).toString(36).padStart(7, "0");

const CHECKS = [
  ["Bech32 of BIP 173", hasBech32Checksum, "A12UEL5L"],
  ["Bech32 of a Nostr key", hasBech32Checksum, NOSTR],
  ["base 58 of BIP 32", hasBase58Checksum, WALLET],
  ["Grafana's", hasGrafanaChecksum, GRAFANA],
  ["GitLab's", hasGitlabChecksum, GITLAB],
] as const;

describe.each(CHECKS)("%s", (_, check, text) => {
  test("is right for the text it was made for", () => expect(check(text)).toBe(true));
  test("is wrong once any character changes", () => {
    for (const at of [text.length - 1, text.length - 4, Math.floor(text.length / 2)]) {
      const other = text[at] === "q" ? "p" : "q";
      expect(check(text.slice(0, at) + other + text.slice(at + 1))).toBe(false);
    }
  });
});

test.each([WALLET, NOSTR, GRAFANA, GITLAB])(
  "a right checksum makes %s definite, a wrong one no more than probable",
  (key) => {
    const redactor = createRedactor();
    const wrong = key.slice(0, -1) + (key.endsWith("7") ? "8" : "7");
    expect(redactor.find(`= ${key}`)).toMatchObject([{ kind: "definite", end: 2 + key.length }]);
    expect(redactor.find(`= ${wrong}`)).toMatchObject([{ kind: "probable", end: 2 + key.length }]);
  },
);
