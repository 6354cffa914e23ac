// What a container can reach: through the proxy alone, as bubblewrap's sandbox does.
import { useBackend } from "../support/sandbox-place.ts";

useBackend("container");
await import("./egress-sandbox.test.ts");
