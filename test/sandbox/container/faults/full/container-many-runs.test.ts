// Hundreds of runs in containers leave nothing.
import { overContainers } from "../../../../support/over-containers.ts";
import { thoroughly } from "../../../../support/thorough.ts";

await overContainers(() => thoroughly(() => import("../../../run/faults/many-runs.test.ts")));
