/** Units of size. */

/** Bytes of a kibibyte. */
export const KIB = 1024;
/** Bytes of a mebibyte. */
export const MIB = 1024 * KIB;
/** Bytes of a gibibyte. */
export const GIB = 1024 * MIB;
