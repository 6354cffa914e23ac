/**
 * Schemas of arguments that several tools share, from the one table of constraints.
 *
 * Traversal and null bytes in a path are not refused here: the workspace guard refuses them, so that they count as
 * violations and reach the security audit.
 */
import { z } from "zod";
import { CONSTRAINTS, hasMoreBytes, hasMoreCharacters } from "../../model/outcome/constraints.ts";

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
