/** Defines the operator's settings for language servers, which answer questions about code from within the sandbox. */
import * as z from "zod";
import type { LanguageServerSettings } from "../../../model/place/language-servers.ts";

/** Servers that the operator names, their words, and the extensions of each. */
const SERVERS_MAX = 32;
const WORDS_MAX = 32;
const WORD_CHARACTERS_MAX = 1024;
const EXTENSIONS_MAX = 32;

const word = z
  .string()
  .min(1)
  .max(WORD_CHARACTERS_MAX)
  .refine((text) => !text.includes("\0"), "must not hold a null byte");
const extension = z.string().regex(/^\.[A-Za-z0-9_+-]{1,20}$/, "must be an extension with its dot, such as `.lua`");

const chosen = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, "must be a short name in lower case, such as `lua`"),
  /** Program and arguments, as the sandbox finds them. */
  command: z
    .array(word)
    .min(1, "must name a program")
    .max(WORDS_MAX)
    .refine(([program]) => program === undefined || !program.startsWith("-"), "must begin with a program"),
  /** Extensions, and what the protocol calls their language. */
  extensions: z
    .record(extension, z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, "must be the name of a language, such as `lua`"))
    .refine((all) => {
      const { length } = Object.keys(all);
      return length > 0 && length <= EXTENSIONS_MAX;
    }, `must name 1 to ${EXTENSIONS_MAX} extensions`),
});

/** The section `language_servers` of `handrail.yaml`. */
export const languageServerSettings = z.strictObject({
  /** Off, and code is known by its syntax alone. */
  enabled: z.boolean().default(true),
  /** Megabytes of memory of each server. */
  memory_mb: z.int().min(128).max(65_536).default(1024),
  servers: z.array(chosen).max(SERVERS_MAX).default([]),
});

/** The settings as the kernel takes them. */
export function languageServersOf({
  enabled,
  memory_mb: memoryMb,
  servers,
}: z.infer<typeof languageServerSettings>): LanguageServerSettings {
  return { enabled, memoryMb, servers };
}
