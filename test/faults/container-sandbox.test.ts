// Bounds, beginnings and ends of commands in containers: the same tests that bubblewrap's sandbox passes.
import { useBackend } from "../support/sandbox-place.ts";

useBackend("container");
await import("./sandbox-limits.test.ts");
await import("./sandbox-lifecycle.test.ts");
