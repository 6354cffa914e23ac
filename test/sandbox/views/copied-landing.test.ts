// The same of what lands, where commands write into copies.
import { useViews } from "../../support/sandbox-place.ts";

useViews("copy");
await import("./landing.test.ts");
await import("./meanwhile.test.ts");
await import("./elsewhere.test.ts");
