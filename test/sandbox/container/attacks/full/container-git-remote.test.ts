// Hostile remotes of git over containers: the same attacks as in bubblewrap's sandbox.
import { overContainers } from "../../../../support/over-containers.ts";

await overContainers(async () => {
  await import("../../../../tools/git/attacks/git-remote.test.ts");
  await import("../../../../tools/git/attacks/full/git-huge.test.ts");
});
