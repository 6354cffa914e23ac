// What is remembered of a history is all of it: the long search.
import { thoroughly } from "../../../support/thorough.ts";

await thoroughly(() => import("../repository-history.test.ts"));
