/**
 * Schemas of arguments that several tools share, from the one table of constraints.
 *
 * Traversal and null bytes in a path are not refused here: the workspace guard refuses them, so that they count as
 * violations and reach the security audit.
 */
import { z } from "zod";
import { CONSTRAINTS, hasMoreBytes, hasMoreCharacters } from "../../model/outcome/constraints.ts";
import { HASH_PATTERN } from "../../model/work/content.ts";

/** Characters of the name of an artifact, a category, a model (INV-0026, INV-0030, INV-0032). */
const NAME_CHARACTERS_MAX = CONSTRAINTS["artifact_publish.artifact_id"].max;
const PATH = CONSTRAINTS["file_read.path"];
const NOT_UNICODE = { params: { rule: "format" }, message: "holds half of a surrogate pair; send whole characters" };

/** A path in the workspace. */
export function pathArgument(description: string) {
  return z
    .string()
    .min(1, "must not be empty; name a path in the workspace")
    .refine((path) => !hasMoreCharacters(path, PATH.max), {
      params: { rule: "max_length" },
      message: `is longer than ${PATH.max} characters; use a shorter path`,
    })
    .refine((path) => path.isWellFormed(), NOT_UNICODE)
    .meta({ description, maxLength: PATH.max });
}

/** Text of at most `bytesMax` bytes of UTF-8. */
export function textArgument(description: string, bytesMax: number) {
  return z
    .string()
    .refine((text) => !hasMoreBytes(text, bytesMax), {
      params: { rule: "max_size" },
      message: `is longer than ${bytesMax} bytes; shorten it`,
    })
    .refine((text) => text.isWellFormed(), NOT_UNICODE)
    .meta({ description });
}

/** A whole number from `min` on, to `max` where there is one; it may be left out. */
export function numberArgument(description: string, min: number, max?: number) {
  const number = z.int().min(min);
  return (max === undefined ? number : number.max(max)).optional().meta({ description });
}

/** A BLAKE3-256 hash: 64 hexadecimal digits, also capital ones. */
export function hashArgument(description: string) {
  return z
    .string()
    .refine((value) => HASH_PATTERN.test(value.toLowerCase()), {
      params: { rule: "hash_size" },
      message: "must be 64 hexadecimal digits, the BLAKE3-256 of the content",
    })
    .meta({ description, pattern: "^[0-9a-fA-F]{64}$" })
    .transform((value) => value.toLowerCase());
}

/** A name, such as that of an artifact or of a model. */
export function nameArgument(description: string) {
  return z
    .string()
    .min(1, "must not be empty")
    .refine((name) => !hasMoreCharacters(name, NAME_CHARACTERS_MAX), {
      params: { rule: "max_length" },
      message: `is longer than ${NAME_CHARACTERS_MAX} characters; use a shorter one`,
    })
    .refine((name) => name.isWellFormed(), NOT_UNICODE)
    .meta({ description, maxLength: NAME_CHARACTERS_MAX });
}
