/** Builds what the protocol library and the texts of both eras are made from, for one session. */
import { toolList } from "./answers/offered-list.ts";
import { ListPages } from "./features/pages.ts";
import type { LibrarySource } from "./library.ts";
import type { McpOptions } from "./protocol/options.ts";
import { serverIdentity } from "./protocol/server-identity.ts";

/** The source of one session's answers. */
export function sourceOf(options: McpOptions): LibrarySource {
  const { features, heldAfterMs, onError } = options;
  return {
    identity: serverIdentity(options),
    ...toolList(options),
    pages: new ListPages(),
    features,
    heldAfterMs,
    onError,
  };
}
