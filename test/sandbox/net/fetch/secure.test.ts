// Servers that have to prove who they are, for the kernel's own requests.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WebFetcher } from "../../../../src/sandbox/net/fetch/fetcher.ts";
import type { EgressAttempt } from "../../../../src/sandbox/net/gate/attempt.ts";
import { newCertificate } from "../../../support/certificate.ts";
import { Internet } from "../../../support/egress.ts";

function place() {
  const directory = mkdtempSync(join(tmpdir(), "handrail-web-"));
  const internet = new Internet();
  const attempts: EgressAttempt[] = [];
  const fetcherOf = (authorities?: string) => {
    const fetcher = new WebFetcher({
      network: internet.network,
      isOpened: () => false,
      authorities: () => authorities,
    });
    onTestFinished(() => fetcher.close());
    return async (url: string) => {
      const request = { url, method: "GET", headers: {}, format: "raw", timeoutMs: 20_000, bytesMax: 1000 } as const;
      const rules = { judge: async () => undefined, record: (one: EgressAttempt) => void attempts.push(one) };
      return fetcher.fetch(request, { ...rules, signal: new AbortController().signal }).then(
        ({ content }) => content,
        (error: Error) => error.message,
      );
    };
  };
  onTestFinished(() => {
    internet.close();
    rmSync(directory, { recursive: true });
  });
  return { internet, directory, fetcherOf, attempts };
}

test("a server is believed by its authority and its name alone", async () => {
  const { internet, directory, fetcherOf, attempts } = place();
  const right = newCertificate(directory, "right.example");
  await internet.https("right.example", 443, right, (_, response) => void response.end("it is me"));
  await internet.https("wrong.example", 8443, right, (_, response) => void response.end("not me"));
  const believing = fetcherOf(right.cert);
  expect(await believing("https://right.example/")).toBe("it is me");
  expect(await believing("https://wrong.example:8443/")).toMatch(/did not prove who it is \(ERR_TLS_CERT_ALTNAME/);
  expect(await fetcherOf()("https://right.example/")).toMatch(/did not prove who it is/);
  expect(attempts.map(({ outcome, reason }) => [outcome, reason])).toEqual([
    ["allowed", undefined],
    ["failed", "certificate"],
    ["failed", "certificate"],
  ]);
});

test("an answer over TLS that leads to plain HTTP is not followed", async () => {
  const { internet, directory, fetcherOf } = place();
  const right = newCertificate(directory, "right.example");
  await internet.https("right.example", 443, right, (_, response) => {
    response.writeHead(302, { location: "http://right.example/" }).end();
  });
  expect(await fetcherOf(right.cert)("https://right.example/")).toMatch(/from `https` to `http`/);
  expect(internet.lookedUp).toEqual(["right.example"]);
});
