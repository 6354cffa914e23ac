/**
 * Lands what a command changed, and is killed meanwhile. `land-until-killed BASE COMMAND`, where BASE/workspace is the
 * workspace and BASE/views holds the views. Prints `landing` right before, and `landed` once it is done.
 */
import { join } from "node:path";
import { SANDBOX_USER_ID } from "../../../src/sandbox/identity/identity.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { unnotedNames } from "../files-fixture.ts";
import { EVERYTHING, LIMITS } from "../sandbox-place.ts";

const [base = "", command = ""] = process.argv.slice(2);
let made = 0;
const sandbox = new Sandbox({
  instanceId: `killed-${process.pid}`,
  userId: SANDBOX_USER_ID,
  toolchains: [],
  viewsDirectory: join(base, "views"),
  viewNames: {
    next() {
      made += 1;
      return `dead-${process.pid}-${made}`;
    },
    instanceOf: () => undefined,
    isAlive: async () => true,
  },
});
const end = await sandbox.run(
  {
    root: join(base, "workspace"),
    judge: EVERYTHING,
    landing: { newFiles: unnotedNames, before: async () => void process.stdout.write("landing\n") },
    command: ["bash", "--noprofile", "--norc", "-c", command],
    workDir: "/workspace",
    environment: {},
    limits: LIMITS,
  },
  { stdout: () => undefined, stderr: () => undefined },
  new AbortController().signal,
);
process.stdout.write(`landed ${JSON.stringify([end.problem?.message, end.landed?.notKept])}\n`);
await sandbox.endRuns();
sandbox.close();
