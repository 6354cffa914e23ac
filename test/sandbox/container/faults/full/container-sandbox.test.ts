// Bounds, beginnings and ends of commands in containers: the same tests that bubblewrap's sandbox passes.
import { overContainers } from "../../../../support/over-containers.ts";

await overContainers(async () => {
  await import("../../../faults/sandbox-limits.test.ts");
  await import("../../../run/faults/sandbox-lifecycle.test.ts");
  await import("../../../run/faults/many-runs.test.ts");
  await import("../../../run/faults/sandbox-ends.test.ts");
  await import("../../../faults/sandbox-toolchains.test.ts");
});
