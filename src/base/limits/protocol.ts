/** The validation constants of the APM2 tool protocol, under its names, because its table is normative. */
import { GIB, KIB, MIB } from "./units.ts";

/** Characters (code points) in an identifier (INV-0001, 0002, 0003, 0025, 0026, 0030, 0032). */
export const MAX_ID_LEN = 256;
/** Characters (code points) in a path (INV-0005, 0009, 0013, 0017, 0024). */
export const MAX_PATH_LEN = 4096;
/** Bytes that one read may ask for (INV-0008). */
export const MAX_READ_LIMIT = GIB;
/** Bytes of content in one write (INV-0011). */
export const MAX_WRITE_SIZE = 100 * MIB;
/** Bytes of the old or the new content of one edit (INV-0014, 0015). */
export const MAX_EDIT_SIZE = 10 * MIB;
/** Bytes of a shell command (INV-0016). */
export const MAX_COMMAND_LEN = MIB;
/** Milliseconds a command may ask to run (INV-0018). */
export const MAX_TIMEOUT_MS = 3_600_000;
/** Bytes of one `env`, `args` or `metadata` entry (INV-0020, 0023, 0034). */
export const MAX_ARG_LEN = 32 * KIB;
/** Tokens one inference call may ask for (INV-0028). */
export const MAX_TOKENS = 1_000_000;
/** Bytes of a BLAKE3-256 hash (INV-0027, 0029, 0031). */
export const HASH_SIZE = 32;
/** Entries of a repeated field (INV-0019, 0022, 0033). */
export const MAX_REPEATED_ITEMS = 1000;
