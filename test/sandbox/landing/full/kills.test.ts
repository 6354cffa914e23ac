// A kernel that ends at any moment of a landing: a hundred moments.
import { thoroughly } from "../../../support/thorough.ts";

await thoroughly(() => import("../kills.test.ts"));
