// All that a command in bubblewrap's sandbox cannot do it cannot do in a container: the same tests, with the same
// controls.
import { overContainers } from "../../../support/over-containers.ts";

await overContainers(async () => {
  await import("../../attacks/sandbox-calls.test.ts");
  await import("../../attacks/sandbox-commands.test.ts");
  await import("../../attacks/sandbox-machine.test.ts");
  await import("../../attacks/sandbox-selection.test.ts");
  await import("../../attacks/sandbox-workspace.test.ts");
});
