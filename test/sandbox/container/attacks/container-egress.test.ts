// What a container can reach: through the proxy alone, as from bubblewrap's sandbox.
import { overContainers } from "../../../support/over-containers.ts";

await overContainers(async () => {
  await import("../../net/attacks/egress-sandbox.test.ts");
});
