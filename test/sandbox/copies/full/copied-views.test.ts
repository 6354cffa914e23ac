// What holds for overlays holds for copies: what others do meanwhile, other file systems, attacks on the workspace.
import { useViews } from "../../../support/sandbox-place.ts";

useViews("copy");
await import("../../views/full/meanwhile.test.ts");
await import("../../views/elsewhere.test.ts");
await import("../../attacks/sandbox-workspace.test.ts");
