/** Limits of modes, skills, tool specs and tool policies. */
import { KIB } from "./units.ts";

/** Files of one kind (modes, skills, tool specs) in the operator's directory. */
export const GATE_FILES_MAX = 256;
/** Bytes of one such file: they are read again with every change of the directory. */
export const GATE_FILE_BYTES_MAX = 256 * KIB;
/** Tools that one such file may name. */
export const GATE_TOOLS_MAX = 512;
/** Bytes of a workspace's `policy.json`: a stranger's, which may be another program's as well. */
export const WORKSPACE_POLICY_BYTES_MAX = 256 * KIB;
/** Subschemas of one JSON Schema, with what its references lead to written out: each may be tried on every value of an input. */
export const INPUT_SCHEMA_PARTS_MAX = 1024;
/** Nested subschemas: reading them calls itself for each. */
export const INPUT_SCHEMA_DEPTH_MAX = 32;
/** Items that may be compared with one another for `uniqueItems`. */
export const INPUT_SCHEMA_UNIQUE_ITEMS_MAX = 256;
/** States of patterns times characters that one input may cost: at worst a fifth of a second, because a match cannot be interrupted. */
export const INPUT_SCHEMA_STEPS_MAX = 4_194_304;
