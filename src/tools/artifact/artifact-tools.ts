/** The tools for stored content and artifacts. */
import type { Tool } from "../../model/tool/tool.ts";
import { artifactFetch } from "./artifact-fetch.ts";
import { artifactPublish } from "./artifact-publish.ts";
import { putContent } from "./put-content.ts";

export { artifactFetch, artifactPublish, putContent };

/** `put_content`, `artifact_publish` and `artifact_fetch`. */
export const artifactTools: readonly Tool[] = [putContent, artifactPublish, artifactFetch];
