// Hundreds of runs in one kernel leave nothing.
import { thoroughly } from "../../../../support/thorough.ts";

await thoroughly(() => import("../many-runs.test.ts"));
