/**
 * Loaded before the command line: kills the process at one step of the first effect, named by `TEST_KILL_AT`, as `kill
 * -9` would.
 */
import { isMainThread } from "node:worker_threads";
import { Evidence } from "../../../src/kernel/answer/evidence.ts";

const die = (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
};
const { intent, executed } = Evidence.prototype;
const step = isMainThread ? process.env["TEST_KILL_AT"] : undefined;

if (step === "before intent") Evidence.prototype.intent = die;
if (step === "after intent") {
  Evidence.prototype.intent = async function (trail, facts) {
    await intent.call(this, trail, facts);
    return die();
  };
}
if (step === "before outcome") Evidence.prototype.executed = die;
if (step === "after outcome") {
  Evidence.prototype.executed = async function (trail, clean) {
    await executed.call(this, trail, clean);
    return die();
  };
}
