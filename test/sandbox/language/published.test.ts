/** What servers say unasked of open files: of the version that is open, once they rest. */
import { Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { Documents, uriOf } from "../../../src/sandbox/language/documents.ts";
import type { ServerKind } from "../../../src/sandbox/language/server-kinds.ts";
import { ServerProcess } from "../../../src/sandbox/language/server-process.ts";
import type { RunOutput } from "../../../src/sandbox/run/launch.ts";

const KIND: ServerKind = { name: "own", languages: { ".go": "go" }, command: ["false"], advice: "none" };
const QUIET_MS = 2000;
const PLACE = { range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } } };

/** Open files of a server that says what a test wants. */
function open() {
  const started = Promise.withResolvers<RunOutput>();
  const process = new ServerProcess(
    async ({ input, output, signal }) => {
      input(new Writable({ write: (_piece, _encoding, done) => done() }));
      started.resolve(output);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      return { exitCode: 0, endedBy: undefined };
    },
    { notInstalledCode: 41 },
  );
  const documents = new Documents(process, KIND);
  const notify = async (params: unknown) => {
    const text = JSON.stringify({ jsonrpc: "2.0", method: "textDocument/publishDiagnostics", params });
    const { stdout } = await started.promise;
    stdout(Buffer.from(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`));
    await wait(20);
  };
  const say = async (message: string, version?: number, path = "a.go") =>
    await notify({ uri: uriOf(path), ...(version !== undefined && { version }), diagnostics: [{ ...PLACE, message }] });
  const published = async (msMax = 30_000, signal = new AbortController().signal) => {
    const found = await documents.published("a.go", { signal, msMax });
    return found.map(({ message }) => message);
  };
  return { process, documents, notify, say, published };
}

test.concurrent("the last word counts, once nothing more is said", async () => {
  const { documents, say, published } = open();
  await documents.show("a.go", "a");
  await say("early", 1);
  const asked = published();
  await wait(QUIET_MS / 2);
  await say("late", 1);
  const beganMs = performance.now();
  expect(await asked).toEqual(["late"]);
  expect(performance.now() - beganMs).toBeGreaterThan(QUIET_MS - 100);
  // nothing changed since, so that the answer stands
  expect(await published(0)).toEqual(["late"]);
});

test.concurrent("what is said of another version, another file or in another form is none", async () => {
  const { documents, notify, say, published } = open();
  await documents.show("a.go", "a");
  await say("of the first", 1);
  await documents.show("a.go", "ab");
  await say("too late", 1);
  await say("of another file", 2, "b.go");
  await say("of a file outside", 2, "../../etc/passwd");
  for (const odd of [undefined, 7, {}, { uri: uriOf("a.go"), version: 2, diagnostics: "x" }]) await notify(odd);
  await expect(published(QUIET_MS + 500)).rejects.toMatchObject({ trouble: "timed_out" });
  const asked = published();
  await wait(QUIET_MS / 4);
  await say("of the second", 2);
  expect(await asked).toEqual(["of the second"]);
});

test.concurrent("a server that says nothing, or never rests, has not answered", async () => {
  const silent = open();
  await silent.documents.show("a.go", "a");
  await expect(silent.published(QUIET_MS + 500)).rejects.toMatchObject({ trouble: "timed_out" });
  const restless = open();
  await restless.documents.show("a.go", "a");
  const speaking = setInterval(() => void restless.say("again", 1), 100);
  await expect(restless.published(QUIET_MS + 500)).rejects.toMatchObject({ trouble: "timed_out" });
  clearInterval(speaking);
});

test.concurrent("waiting ends with the call, and with the server", async () => {
  const { process, documents, published } = open();
  await documents.show("a.go", "a");
  await expect(published(60_000, AbortSignal.timeout(200))).rejects.toThrow();
  const asked = published(60_000);
  process.close();
  await expect(asked).rejects.toThrow("it was ended");
});

test.concurrent("a flood of diagnostics is cut", async () => {
  const { documents, notify, published } = open();
  await documents.show("a.go", "a");
  const diagnostics = Array.from({ length: 5000 }, () => ({ ...PLACE, message: "x" }));
  await notify({ uri: uriOf("a.go"), version: 1, diagnostics });
  expect(await published()).toHaveLength(500);
});
