/** Finds dialects by their names. */
import type { DialectName } from "../../model/people/dialect.ts";
import { apm2 } from "./apm2.ts";
import { brio } from "./brio.ts";
import type { Dialect } from "./dialect.ts";
import { flow } from "./flow.ts";
import { meao } from "./meao.ts";

/** All dialects. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = { flow, meao, brio, apm2 };
