// Histories of repositories are hidden from commands in containers as they are in bubblewrap.
import { overContainers } from "../../../../support/over-containers.ts";

await overContainers(async () => {
  await import("../../../../tools/git/attacks/git-history.test.ts");
});
