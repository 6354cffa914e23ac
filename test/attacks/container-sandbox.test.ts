// All that a command in bubblewrap's sandbox cannot do it cannot do in a container: the same tests, with the same controls.
import { overContainers } from "../support/over-containers.ts";

await overContainers(async () => {
  await import("./sandbox-calls.test.ts");
  await import("./sandbox-commands.test.ts");
  await import("./sandbox-machine.test.ts");
  await import("./sandbox-selection.test.ts");
  await import("./sandbox-workspace.test.ts");
});
