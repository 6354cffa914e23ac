// Remotes of git over containers: what is cloned, fetched, pulled and pushed there, and the same attacks as in
// bubblewrap's sandbox.
import { overContainers } from "../../../support/over-containers.ts";

await overContainers(async () => {
  await import("../../../kernel/handles/git-remote.test.ts");
  await import("../../../tools/git/attacks/git-remote.test.ts");
  await import("../../../tools/git/attacks/git-private-host.test.ts");
  await import("../../../tools/git/attacks/git-huge.test.ts");
});
