/** Limits of tests, linters and installations. */
import { KIB, MIB } from "./units.ts";

/** Bytes of a project file that is looked through for what runs tests and linters: larger ones are made by programs. */
export const PROJECT_FILE_BYTES_MAX = 64 * KIB;
/** Bytes of a lock file, manifest or configuration that an installation goes by: lock files of large monorepos have a few MiB. */
export const INSTALL_FILE_BYTES_MAX = 8 * MIB;
/** Manifests of one installation: packages of the workspace, each a mount of the run. */
export const INSTALL_MANIFESTS_MAX = 500;
/** Words of a command that the operator writes for tests or linters. */
export const TOOLCHAIN_WORDS_MAX = 64;
/** Characters of each of them. */
export const TOOLCHAIN_WORD_CHARACTERS_MAX = 1024;
/** Registries that the operator names for one manager. */
export const TOOLCHAIN_REGISTRIES_MAX = 16;
/** Bytes of each end of each stream that are kept of tests, linters and installations, to find failures in. */
export const TOOLCHAIN_KEPT_BYTES = 512 * KIB;
/** Lines of one stream that a call may ask for. */
export const OUTPUT_LINES_MAX = 5000;
/** Characters of one line of output that are shown: the rest of a line helps nobody. */
export const OUTPUT_LINE_CHARACTERS_MAX = 2000;
/** Characters of one stream that are shown, as of any command. */
export const OUTPUT_SHOWN_CHARACTERS_MAX = 50_000;
/** Characters of a target of tests and linters. */
export const TARGET_CHARACTERS_MAX = 1024;
