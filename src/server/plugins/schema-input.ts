/** Makes the input of a tool from a schema that somebody else wrote: it is enforced by the bounded compiler. */
import * as z from "zod";
import type { JsonObject } from "../../base/json.ts";
import { compileInputSchema } from "../../kernel/index.ts";

/** @throws KernelError CONFIG_INVALID where the schema of the tool `name` cannot be enforced */
export async function schemaInput(schema: JsonObject, name: string): Promise<z.ZodType<JsonObject>> {
  const constraint = await compileInputSchema(schema, `${name}: input schema`);
  return z
    .custom<JsonObject>()
    .superRefine((input, refinement) => {
      const problem = constraint.problemOf(input as JsonObject);
      if (problem !== undefined) refinement.addIssue({ code: "custom", message: problem.message });
    })
    .meta(schema);
}
