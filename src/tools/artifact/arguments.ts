/** Arguments that the artifact tools share. */
import { CONTENT_ID_PREFIX } from "../../model/work/content.ts";
import { nameArgument } from "../kit/argument.ts";

/** The id of an artifact. Content that is named by its hash has names of another kind. */
export function artifactIdArgument(description: string) {
  return nameArgument(description).refine((id) => !id.startsWith(CONTENT_ID_PREFIX), {
    params: { rule: "format" },
    message: `must not begin with \`${CONTENT_ID_PREFIX}\`, which names content by its hash; choose another id`,
  });
}
