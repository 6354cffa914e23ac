/** A kernel that claims an instance and opens an intent, prints both, and then waits to be killed, or to finish it. */
import { once } from "node:events";
import { systemRandom } from "../../../src/base/ids.ts";
import { startLedgerThread } from "../../../src/server/ledger/ledger-thread.ts";
import { openInstanceStore } from "../../../src/stores/embedded/ledger/instance-store.ts";

const [stateDirectory = ""] = process.argv.slice(2);
const instance = await (await openInstanceStore(stateDirectory, systemRandom)).claim();
const ledger = startLedgerThread({ stateDirectory, instanceId: instance.id });
const event = { sessionId: "ses_a", actor: "agent", requestId: "req_intent", payload: {} } as const;
const sequence = await ledger.record({ ...event, type: "tool_selected", timeMs: Date.now(), intent: true }, "durable");
process.stdout.write(`intent ${sequence} ${instance.id}\n`);
await once(process.stdin.resume(), "end");
const closing = await ledger.record(
  { ...event, type: "tool_executed", timeMs: Date.now(), closes: sequence },
  "durable",
);
process.stdout.write(`outcome ${closing}\n`);
await ledger.close();
await instance.release();
