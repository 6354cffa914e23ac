/** Arguments that the artifact tools share. */
import { z } from "zod";
import { CONSTRAINTS, hasMoreCharacters } from "../../model/outcome/constraints.ts";
import { CONTENT_ID_PREFIX, HASH_PATTERN } from "../../model/work/content.ts";

const ID = CONSTRAINTS["artifact_publish.artifact_id"];

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

/** A name of at most 256 characters. */
export function nameArgument(description: string) {
  return z
    .string()
    .min(1, "must not be empty")
    .refine((name) => !hasMoreCharacters(name, ID.max), {
      params: { rule: "max_length" },
      message: `is longer than ${ID.max} characters; use a shorter one`,
    })
    .refine((name) => name.isWellFormed(), {
      params: { rule: "format" },
      message: "holds half of a surrogate pair; send whole characters",
    })
    .meta({ description, maxLength: ID.max });
}

/** The id of an artifact. Content that is named by its hash has names of another kind. */
export function artifactIdArgument(description: string) {
  return nameArgument(description).refine((id) => !id.startsWith(CONTENT_ID_PREFIX), {
    params: { rule: "format" },
    message: `must not begin with \`${CONTENT_ID_PREFIX}\`, which names content by its hash; choose another id`,
  });
}
