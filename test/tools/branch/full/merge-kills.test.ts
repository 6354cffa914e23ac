// A merge that is killed before each single change that it makes.
import { thoroughly } from "../../../support/thorough.ts";

await thoroughly(() => import("../merge-kills.test.ts"));
