// The same lands where commands write into copies.
import { useViews } from "../../../support/sandbox-place.ts";

useViews("copy");
await import("../landing.test.ts");
