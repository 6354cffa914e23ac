/** The tools that ask models: none where the operator names no provider. */
import type { ModelProvider } from "../../model/reach/models.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { inference } from "./inference.ts";

/** All of them, for `providers`. */
export function inferenceTools(providers: readonly ModelProvider[]): readonly Tool[] {
  return providers.length === 0 ? [] : [inference(providers) as Tool];
}
