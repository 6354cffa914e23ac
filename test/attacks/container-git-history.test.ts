// Histories of repositories are hidden from commands in containers as they are in bubblewrap.
import { overContainers } from "../support/over-containers.ts";

await overContainers(async () => {
  await import("./git-history.test.ts");
});
