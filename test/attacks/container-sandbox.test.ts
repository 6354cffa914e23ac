// All that a command in bubblewrap's sandbox cannot do it cannot do in a container: the same tests, with the same controls.
import { useBackend } from "../support/sandbox-place.ts";

useBackend("container");
await import("./sandbox-calls.test.ts");
await import("./sandbox-commands.test.ts");
await import("./sandbox-machine.test.ts");
await import("./sandbox-workspace.test.ts");
