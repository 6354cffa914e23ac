// Answers that are cut off while a slow client still has some of them to take: the proxy goes on. Each round of the
// loop ends one at another byte.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { AttemptLog, type EgressAttempt } from "../../../src/sandbox/net/gate/attempt.ts";
import { EgressProxy } from "../../../src/sandbox/net/proxy/egress-proxy.ts";
import { Places } from "../../../src/sandbox/net/proxy/places.ts";
import { newCertificate } from "../../support/certificate.ts";
import { Internet } from "../../support/egress.ts";

const ROUNDS = 40;
const MB = 2 ** 20;

test.each(["over TLS", "plain"])(
  "an answer %s that is cut while it is taken slowly ends for itself alone",
  async (how) => {
    const directory = mkdtempSync(join(tmpdir(), "handrail-cut-"));
    const internet = new Internet();
    onTestFinished(() => {
      internet.close();
      rmSync(directory, { recursive: true });
    });
    const faults: unknown[] = [];
    const note = (error: unknown) => faults.push(error);
    process.on("uncaughtExceptionMonitor", note);
    onTestFinished(() => void process.off("uncaughtExceptionMonitor", note));
    const certificate = newCertificate(join(directory, "tls"), "git.example");
    const piece = Buffer.alloc(MB, "x");
    const endless: Parameters<Internet["http"]>[2] = (request, response) => {
      request.resume();
      response.writeHead(200);
      const next = (): void => {
        while (!response.destroyed) if (!response.write(piece)) return void response.once("drain", next);
      };
      next();
    };
    const isSecure = how === "over TLS";
    if (isSecure) await internet.https("git.example", 443, certificate, endless);
    else await internet.http("git.example", 443, endless);
    const attempts: EgressAttempt[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const proxy = new EgressProxy({
        rules: {
          decide: () => ({ kind: "allow" }),
          blockedPorts: [],
          ...(isSecure && { secure: { admit: () => ({}), authorities: certificate.cert, message: "" } }),
        },
        network: internet.network,
        log: new AttemptLog((attempt) => attempts.push(attempt)),
        places: { clients: new Places(8), upstreams: new Places(8) },
        limits: { receivedBytesMax: MB + round * 9973 },
      });
      const path = join(directory, String(round));
      await proxy.listen(path);
      const client = connect({ path });
      client.on("error", () => undefined); // it is cut
      client.write("POST http://git.example:443/x HTTP/1.1\r\nHost: git.example:443\r\nContent-Length: 0\r\n\r\n");
      client.on("data", () => {
        client.pause();
        setTimeout(() => client.resume(), round % 3);
      });
      await Promise.race([once(client, "close"), wait(2000)]);
      client.destroy();
      await proxy.close();
    }
    expect(faults).toEqual([]);
    expect(attempts.map(({ outcome, reason }) => `${outcome} ${reason}`)).toEqual(
      Array(ROUNDS).fill("allowed too_many_bytes"),
    );
  },
);
