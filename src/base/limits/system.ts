/** Limits of tools that touch the machine itself. */
import { KIB, MIB } from "./units.ts";

/** Milliseconds that an installation may take when the operator does not say: cargo compiles. */
export const SYSTEM_INSTALL_TIMEOUT_MS = 30 * 60_000;
/** Milliseconds that asking for or restarting a service may take: systemd itself gives a service 90 s to stop and as long to start. */
export const SYSTEM_SERVICE_TIMEOUT_MS = 240_000;
/** Milliseconds that a program may take to say its version. */
export const SYSTEM_VERSION_TIMEOUT_MS = 10_000;
/** Milliseconds that sudo may take to say whether it would start a program. */
export const SYSTEM_SUDO_CHECK_MS = 10_000;
/** Milliseconds between asking a host command to end and killing it: package managers put their state in order first. */
export const HOST_COMMAND_GRACE_MS = 3000;
/** Milliseconds that are waited for output after a killed host command: what became a process of its own may hold its pipes. */
export const HOST_COMMAND_DRAIN_MS = 500;
/** Host commands that one kernel runs at once: package managers lock each other out anyway. */
export const HOST_COMMANDS_MAX = 4;
/** Processes below a host command that are looked for when it is killed. */
export const HOST_PROCESSES_MAX = 4096;
/** Links that are followed to a listed program. */
export const HOST_LINKS_MAX = 16;
/** Directories in which programs are looked for. */
export const SYSTEM_PATH_MAX = 16;
/** Programs, services or configuration files that the operator lists, of each. */
export const SYSTEM_LISTED_MAX = 256;
/** Words of the arguments that make a program print its version. */
export const SYSTEM_VERSION_WORDS_MAX = 4;
/** Migrations of one configuration file, and steps of one migration. */
export const CONFIG_MIGRATIONS_MAX = 256;
/** Names that lead to a member of a configuration file. */
export const CONFIG_DEPTH_MAX = 32;
/** Bytes of a configuration file that is migrated. */
export const CONFIG_MIGRATED_BYTES_MAX = MIB;
/** Bytes of a program that are hashed to verify it. */
export const BINARY_BYTES_MAX = 1024 * MIB;
/** Characters of what a program says of its version that are looked at. */
export const VERSION_TEXT_MAX = 4 * KIB;
