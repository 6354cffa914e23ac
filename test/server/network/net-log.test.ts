/** `handrail net`: what the ledger says of the network, and what would let a refused attempt through. */
import { expect, test } from "vitest";
import { withLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { grantFor } from "../../../src/server/network/net-advice.ts";
import { explainCall, netLog } from "../../../src/server/network/net-log.ts";
import { lockedBy, secretPlace } from "../../support/secret-place.ts";

const KEY = {
  value: "sk-live-4f9Qm2Zx8Lw1Rt6Yb3Nc7Vd0",
  placeholder: "sk-live-AbCdEfGhIjKlMnOpQrStUv12",
  bindings: [{ to: "api.example", in: "header Authorization" }],
};

test("what a command reached, with which secret, and what it did not", async () => {
  const place = await secretPlace({ "api.example": lockedBy(() => true) }, { API_KEY: KEY });
  await place.run(
    'curl -sS -H "Authorization: Bearer $API_KEY" https://api.example/v1; H=other; curl -s "https://$H.example/"; curl -s -H "X: $API_KEY" https://api.example/',
  );
  const { stateDirectory } = place.kernel;
  await place.kernel.close();
  await withLedgerReader(stateDirectory, async (reader) => {
    const all = await netLog(reader, { count: 20 });
    expect(
      all.map(({ host, port, outcome, reason, secrets, tool }) => [host, port, tool, outcome, reason, secrets]),
    ).toEqual([
      ["api.example", 443, "shell", "allowed", undefined, ["API_KEY"]],
      ["other.example", 443, "shell", "refused", "denied", []],
      ["api.example", 443, "shell", "refused", "secret_binding", []],
    ]);
    expect(await netLog(reader, { count: 1 })).toEqual(all.slice(2));
    expect(await netLog(reader, { count: 9, isRefused: true, host: "example" })).toEqual(all.slice(1));
    expect(await netLog(reader, { count: 9, sinceMs: Date.now() + 1000 })).toEqual([]);
    const call = all[0]?.request_id ?? "";
    expect(await netLog(reader, { count: 9, requestId: call })).toEqual(all);
    const explained = await explainCall(reader, call);
    expect(explained).toMatchObject({ tool: "shell", actor: "bob/helper", decision: "allowed" });
    expect(explained?.rules).toContain("open.everything");
    expect(explained?.attempts.map(({ why, grant }) => [why, grant?.change])).toEqual([
      ["the call may reach it, with the secret `API_KEY`", undefined],
      [
        expect.stringContaining("did not name it"),
        expect.stringContaining("name `other.example:443` in a call of `shell`"),
      ],
      [expect.stringContaining("not bound"), expect.stringContaining("handrail secrets add NAME --to api.example:443")],
    ]);
    expect(await explainCall(reader, "req_none")).toBeUndefined();
  });
}, 60_000);

test.each([
  ["web_fetch", "address_private", "operator", /`web\.private_hosts`/],
  ["git_push", "address_private", "operator", /`git\.private_hosts`/],
  ["shell", "blocked_port", "operator", /`capabilities\.shell\.network\.blockedPorts`/],
  ["shell", "client_certificate", "agent", /SSL_CERT_FILE/],
  ["shell", "certificate", "operator", /`web\.certificate_authorities`/],
])("%s refused by %s: the %s can change it", (tool, reason, by, change) => {
  const { grant } = grantFor({ host: "a.example", port: 443, tool, outcome: "refused", reason, secrets: [] });
  expect([grant?.by, grant?.change]).toEqual([by, expect.stringMatching(change)]);
});

test("what no grant changes offers none", () => {
  for (const reason of ["address_loopback", "timeout", "malformed", "unknown_host", "something_new"]) {
    const explained = grantFor({ host: "a.example", port: 443, tool: "shell", outcome: "failed", reason, secrets: [] });
    expect([explained.grant, explained.why === ""]).toEqual([undefined, false]);
  }
});
