// What containers write into copies lands as it does from overlays.
import { overContainers } from "../../../support/over-containers.ts";
import { useViews } from "../../../support/sandbox-place.ts";

useViews("copy");
await overContainers(async () => {
  await import("../../views/landing.test.ts");
  await import("../attacks/copied-views.test.ts");
});
