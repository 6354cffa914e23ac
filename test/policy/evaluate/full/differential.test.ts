// Slices and memo change no verdict: the long search.
import { thoroughly } from "../../../support/thorough.ts";

await thoroughly(() => import("../differential.test.ts"));
