/**
 * Checks the target of tests or linters: a path of the workspace.
 *
 * For pytest the names of tests may stand behind it.
 *
 * INVARIANT: a target is never read as an option, as a file of arguments or by a shell, whatever runs it. That it lies
 * in the workspace is judged by its path, as for every file.
 */
import { z } from "zod";

import { belowAlias } from "../../model/place/workspace.ts";

/** Characters of a target of tests and linters. */
const TARGET_CHARACTERS_MAX = 1024;

/** A target as a command gets it. */
export interface Target {
  /** As it was asked for: what is judged. */
  readonly asked: string;
  /** Relative to the workspace root; begins with a letter, a digit, `_`, `.` or `./`. */
  readonly path: string;
  /** What stands behind `::`: names of tests. */
  readonly names: string | undefined;
}

/** Scripts of projects hand arguments to a shell, and not all of them quote well. */
const FOR_A_SHELL = /[\p{Cc}\u2028\u2029$`"'\\;|&<>!]/u;

/** The argument `target`. */
export const target = z
  .string()
  .min(1, "must not be empty; leave it out to look at everything")
  .max(TARGET_CHARACTERS_MAX)
  .refine((text) => text.isWellFormed(), {
    params: { rule: "format" },
    message: "holds half of a surrogate pair; send whole characters",
  })
  .refine((text) => !FOR_A_SHELL.test(text), {
    params: { rule: "format" },
    message: "holds a character that means something to a shell; name a file or a directory whose path has none",
  })
  .refine((text) => !relative(text).startsWith("-"), {
    params: { rule: "format" },
    message: "begins with `-` and would be read as an option; name a file or a directory",
  })
  .refine((text) => !relative(text).startsWith("/"), {
    params: { rule: "format" },
    message: "must be relative to the workspace root",
  })
  .refine((text) => !relative(text).startsWith("::"), {
    params: { rule: "format" },
    message: "names tests but no file; put the file first",
  })
  .meta({
    description:
      "File or directory to look at, relative to the workspace root; for pytest with `::` and names of tests behind it. Default: everything.",
    maxLength: TARGET_CHARACTERS_MAX,
  });

/** The target that `text`, which fits the schema, names. */
export function targetOf(text: string): Target {
  const at = text.indexOf("::");
  const asked = at === -1 ? text : text.slice(0, at);
  const parts = relative(asked)
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  const path = parts.length === 0 ? "." : parts.join("/");
  // `@file` is a list of arguments to some programs, `~` a home to others
  return {
    asked,
    path: /^[\p{L}\p{N}_.]/u.test(path) ? path : `./${path}`,
    names: at === -1 ? undefined : text.slice(at + 2),
  };
}

function relative(text: string): string {
  return belowAlias(text) ?? text;
}
