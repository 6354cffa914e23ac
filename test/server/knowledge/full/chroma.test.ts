/** Vectors in ChromaDB's own server, installed from the registry into a folder of its own. */
import { fork, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { expectChromaAnswers } from "../../../support/chroma-questions.ts";
import { freshPlace } from "../../../support/place.ts";

const FOLDER = fileURLToPath(new URL("../../../../integration/chroma/", import.meta.url));
const BINDING = `${FOLDER}node_modules/chromadb-js-bindings-linux-${process.arch}-gnu/package.json`;
const INSTALL_MS_MAX = 10 * 60_000;
const START_MS_MAX = 60_000;

test("the real server answers as its stand-in does", { timeout: 15 * 60_000 }, async () => {
  install();
  const port = await freePort();
  const server = fork(`${FOLDER}server.mjs`, [freshPlace().state, String(port)], { stdio: "ignore" });
  onTestFinished(() => void server.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(`${url}/api/v2/heartbeat`);
  await expectChromaAnswers(url);
});

function install(): void {
  if (existsSync(BINDING)) return;
  const { status, stdout, stderr } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: FOLDER,
    encoding: "utf8",
    timeout: INSTALL_MS_MAX,
  });
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.anything()]);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function untilAnswers(url: string): Promise<void> {
  const endMs = performance.now() + START_MS_MAX;
  for (;;) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    if (performance.now() > endMs) throw new Error("ChromaDB's server did not start");
    await sleep(100);
  }
}
