// Program: runs one command in a sandbox, lets what it changed land, and prints what came of it.
// `view-run ROOT VIEWS CHOICE COMMAND`
import { SANDBOX_USER_ID } from "../../../src/sandbox/identity/identity.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import type { ViewChoice } from "../../../src/sandbox/views/view-kinds.ts";
import { unnotedNames } from "../files-fixture.ts";
import { EVERYTHING, LIMITS, testedBackend } from "../sandbox-place.ts";

const [root = "", viewsDirectory = "", choice = "auto", command = ""] = process.argv.slice(2);
const told: string[] = [];
let made = 0;
const sandbox = new Sandbox({
  instanceId: `child-${process.pid}`,
  userId: SANDBOX_USER_ID,
  toolchains: [],
  backend: testedBackend(),
  viewsDirectory,
  views: choice as ViewChoice,
  tell: (message) => void told.push(message),
  viewNames: {
    next() {
      made += 1;
      return `dead-${process.pid}-${made}`;
    },
    instanceOf: () => undefined,
    isAlive: async () => true,
  },
});

let said = "";
const output = {
  stdout(piece: Uint8Array) {
    said += Buffer.from(piece).toString();
    if (said.startsWith("up")) process.stdout.write("up\n");
  },
  stderr(piece: Uint8Array) {
    said += Buffer.from(piece).toString();
  },
};
try {
  const run = {
    root,
    judge: EVERYTHING,
    landing: { newFiles: unnotedNames },
    command: ["sh", "-c", command] as const,
    workDir: "/workspace",
    environment: {},
    limits: LIMITS,
  };
  const { exitCode, enforced, landed, problem } = await sandbox.run(run, output, new AbortController().signal);
  if (problem !== undefined) throw problem;
  process.stdout.write(`${JSON.stringify({ exitCode, said, view: enforced.view, landed, told })}\n`);
} catch (error) {
  const { code, message, suggestion } = error as { code?: string; message: string; suggestion?: string };
  process.stdout.write(`${JSON.stringify({ code, message, suggestion, told })}\n`);
}
await sandbox.endRuns();
sandbox.close();
