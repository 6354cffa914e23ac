/**
 * What tests start as `handrail`: the compiled program, as its launcher does. Where that is not the program of the
 * sources as they are, it is the sources. A run of all tests starts it many hundred times, and the program starts
 * sooner.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { programMatches } from "../../scripts/setup/program.mjs";

/** The checkout that is tested. */
export const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** The entry of the command line's sources, in the project. */
export const SOURCE_ENTRY = "src/cli/main.ts";

/** The entry that tests start, in the project. */
export const ENTRY = programMatches(PROJECT) ? ".toolchain/program/main.js" : SOURCE_ENTRY;

/** The entry that tests start, from everywhere. */
export const MAIN = join(PROJECT, ENTRY);
