// The ways out of the kernel, on ten thousand targets.
import { thoroughly } from "../../../../support/thorough.ts";

await thoroughly(() => import("../agreement.test.ts"));
