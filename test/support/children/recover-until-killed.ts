/**
 * Takes back what a killed kernel had landed, and is killed meanwhile. `recover-until-killed VIEWS CHANGE`, where VIEWS
 * holds the views of dead kernels, and CHANGE is the change before which it is killed, from 1 on. Prints `recovered`
 * where it came to its end.
 */
import { recoverLandings } from "../../../src/sandbox/landing/recovery/recovery.ts";
import { killAtChange } from "./kill-at-change.ts";

const [views = "", change = ""] = process.argv.slice(2);
let claimed = 0;
const names = {
  next() {
    claimed += 1;
    return `dead-again-${process.pid}-${claimed}`;
  },
  instanceOf: () => "dead",
  isAlive: async () => false,
};
killAtChange(Number(change))();
await recoverLandings(views, names, (error) => {
  throw error;
});
process.stdout.write("recovered\n");
