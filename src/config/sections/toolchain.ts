/**
 * The settings `toolchain` of a workspace: how it is tested and linted, and what an installation may do.
 *
 * Commands are words, not lines for a shell. A workspace's own file may name commands too; they have no effect until
 * the operator trusts it.
 */
import * as z from "zod";
import { MAX_TIMEOUT_MS } from "../../base/limits.ts";
import {
  type ChosenToolchain,
  PACKAGE_MANAGERS,
  type PackageManager,
  type ToolchainCommand,
} from "../../model/work/toolchain.ts";

/** Words of a command that the operator writes for tests or linters. */
const TOOLCHAIN_WORDS_MAX = 64;
/** Characters of each word of such a command. */
const TOOLCHAIN_WORD_CHARACTERS_MAX = 1024;
/** Registries that the operator names for one manager. */
const TOOLCHAIN_REGISTRIES_MAX = 16;

const word = z
  .string()
  .max(TOOLCHAIN_WORD_CHARACTERS_MAX)
  .refine((text) => !text.includes("\0"), "must not hold a null byte");
const program = word.min(1).refine((text) => !text.startsWith("-"), "must begin with a program, not with an option");
/** A program and its arguments. */
const command = z
  .array(word)
  .min(1, "must name a program")
  .max(TOOLCHAIN_WORDS_MAX)
  .refine(
    ([first]) => first === undefined || program.safeParse(first).success,
    "must begin with the name of a program",
  );

const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::([1-9][0-9]{0,4}))?$/;
const registry = z.string().refine((text) => {
  const found = HOST.exec(text);
  return found !== null && Number(found[1] ?? 443) <= 65_535;
}, "must be a host, or a host and a port, as in `registry.example.com:8443`");
const registries = z.array(registry).min(1).max(TOOLCHAIN_REGISTRIES_MAX);

const commands = z.strictObject({ test: command.optional(), lint: command.optional() });

/** What a workspace's own file may say. */
export const ownToolchainSettings = commands;
/** What the operator may say of a workspace. */
export const toolchainSettings = commands.extend({
  /** Seconds that tests, linters and installations may take. */
  timeout_seconds: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS / 1000)
    .optional(),
  install: z
    .strictObject({
      /** Packages may run scripts of their own while they are installed. */
      scripts: z.boolean().default(false),
      registries: z.partialRecord(z.enum(PACKAGE_MANAGERS), registries).default({}),
    })
    .optional(),
});

/** What the operator says of the toolchain of a workspace. */
export type ToolchainSettings = z.infer<typeof toolchainSettings>;
/** What a workspace's own file says of it. */
export type OwnToolchainSettings = z.infer<typeof ownToolchainSettings>;

/**
 * The toolchain as both chose it; the operator's word stands before a trusted file's. `own` is absent where it is not
 * trusted.
 */
export function chosenToolchain(
  granted: ToolchainSettings | undefined,
  own: OwnToolchainSettings | undefined,
): ChosenToolchain {
  const test = commandOf(granted?.test ?? own?.test);
  const lint = commandOf(granted?.lint ?? own?.lint);
  const { timeout_seconds: timeoutSeconds, install } = granted ?? {};
  return {
    ...(test && { test }),
    ...(lint && { lint }),
    ...(timeoutSeconds !== undefined && { timeoutMs: timeoutSeconds * 1000 }),
    ...(install && { install: { scripts: install.scripts, registries: presentOnly(install.registries) } }),
  };
}

function commandOf(words: readonly string[] | undefined): ToolchainCommand | undefined {
  const [first, ...rest] = words ?? [];
  return first === undefined ? undefined : [first, ...rest];
}

function presentOnly(
  named: Readonly<Partial<Record<PackageManager, readonly string[] | undefined>>>,
): Readonly<Partial<Record<PackageManager, readonly string[]>>> {
  return Object.fromEntries(Object.entries(named).filter(([, hosts]) => hosts !== undefined));
}
