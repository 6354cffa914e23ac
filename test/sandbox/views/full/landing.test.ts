// What a command did lands as it was done: the long search.
import { thoroughly } from "../../../support/thorough.ts";

await thoroughly(() => import("../landing.test.ts"));
