// Remotes of git over containers: what is cloned, fetched, pulled and pushed there, and the same attacks as in bubblewrap's sandbox.
import { overContainers } from "../support/over-containers.ts";

await overContainers(async () => {
  await import("../kernel/git-remote.test.ts");
  await import("./git-remote.test.ts");
  await import("./git-private-host.test.ts");
  await import("./git-huge.test.ts");
});
