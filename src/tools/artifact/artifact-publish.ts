/**
 * `artifact_publish`: gives stored content a name that never changes afterwards (CTR-0020, CTR-0021).
 */
import { z } from "zod";
import { CONSTRAINTS, hasMoreBytes } from "../../model/outcome/constraints.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { hashArgument, nameArgument } from "../kit/argument.ts";
import { WRITES } from "../kit/capabilities.ts";
import { integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { artifactIdArgument } from "./arguments.ts";

const METADATA = CONSTRAINTS["artifact_publish.metadata"];

const entry = z
  .string()
  .refine((text) => !hasMoreBytes(text, METADATA.entryBytesMax), {
    params: { rule: "max_length" },
    message: `is longer than ${METADATA.entryBytesMax} bytes; shorten it`,
  })
  .refine((text) => text.isWellFormed() && text.split("=").length === 2, {
    params: { rule: "format" },
    message: "must be `key=value` with exactly one `=`",
  });

const parameters = z.strictObject({
  artifact_id: artifactIdArgument("Name of the artifact in this workspace. It stands for this content for good."),
  content_hash: hashArgument("BLAKE3-256 of content that was stored before and that you may read."),
  category: nameArgument("What kind of artifact it is, such as `test_results`."),
  metadata: z
    .array(entry)
    .max(METADATA.itemsMax, `must not have more than ${METADATA.itemsMax} entries`)
    .optional()
    .meta({ description: "Facts about it as `key=value` entries." }),
});

type Arguments = z.infer<typeof parameters>;

/** The tool `artifact_publish`. */
export const artifactPublish: Tool<Arguments> = {
  name: "artifact_publish",
  title: "Publish an artifact",
  description:
    "Publishes stored content under a name. Every session of this workspace can fetch it then, and it never changes: publishing other " +
    "content under the same name fails. Store the content first, with `put_content`.",
  parameters,
  outputSchema: objectOf({
    artifact_id: text(),
    content_hash: text(),
    size_bytes: integer(),
    category: text(),
    metadata: listOf(text()),
    published_at: text("ISO 8601."),
  }),
  capability: { ...WRITES, risk: "low" },
  analyse: (args) => [{ resource: { kind: "artifact", id: args.artifact_id }, effect: "write" }],
  async execute(args, context) {
    const { artifact_id: id, content_hash: contentHash, category, metadata = [] } = args;
    const artifact = await context.content.publish({ id, contentHash, category, metadata });
    return {
      kind: "data",
      data: {
        artifact_id: artifact.id,
        content_hash: artifact.contentHash,
        size_bytes: artifact.sizeBytes,
        category: artifact.category,
        metadata: artifact.metadata,
        published_at: new Date(artifact.publishedAtMs).toISOString(),
      },
    };
  },
};
