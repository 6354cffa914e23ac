// Reading a text in four places at once finds what one pass finds: the long search.
import { thoroughly } from "../../../support/thorough.ts";

await thoroughly(() => import("../scan.test.ts"));
