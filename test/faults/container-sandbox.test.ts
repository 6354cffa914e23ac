// Bounds, beginnings and ends of commands in containers: the same tests that bubblewrap's sandbox passes.
import { overContainers } from "../support/over-containers.ts";

await overContainers(async () => {
  await import("./sandbox-limits.test.ts");
  await import("./sandbox-lifecycle.test.ts");
  await import("./sandbox-ends.test.ts");
  await import("./sandbox-toolchains.test.ts");
});
