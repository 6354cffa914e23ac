/** The section `evidence` of `handrail.yaml`: of which calls the documents themselves are kept. */
import * as z from "zod";

/**
 * The section, with the defaults of an operator who wrote nothing. Documents of effects are written beside the fsync
 * that each effect waits for in any case; reads wait for none, so that theirs are kept only on request.
 */
export const evidenceSettings = z.strictObject({
  /** `effects`: of calls with an effect and of approvals; `all`: of calls that only read, too. */
  documents: z.enum(["off", "effects", "all"]).default("effects"),
});
