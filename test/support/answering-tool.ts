/** A tool that answers what a test wants, and a place where documents of approvals are kept. */
import { z } from "zod";
import type { ApprovalDocuments } from "../../src/approval/approval-documents.ts";
import { blake3Hex } from "../../src/base/hash.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { MaintainedContentStore } from "../../src/cas/content-store.ts";
import type { Tool } from "../../src/model/tool/tool.ts";
import { createRedactor } from "../../src/redact/redact.ts";
import { defineTool } from "../../src/tools/kit/define-tool.ts";

/** A tool that only reads, and answers what `data` returns. */
export function answering(data: () => JsonObject): Tool {
  return defineTool({
    name: "answering",
    title: "Answer",
    description: "Answers.",
    parameters: z.strictObject({}),
    capability: { effect: "read", risk: "low", approval: { level: "auto" } },
    analyse: () => [{ resource: { kind: "file", path: "a.txt" }, effect: "read" }],
    execute: () => ({ kind: "data", data: data() }),
  });
}

/** Keeps documents of approvals as a server does. */
export function keptBy(content: MaintainedContentStore): ApprovalDocuments {
  const redactor = createRedactor();
  return {
    async keep(text, entry) {
      const hash = blake3Hex(text);
      const kept = await content.keepDocuments([{ hash, bytes: Buffer.from(text) }], entry, Date.now());
      await kept.sync();
      return hash;
    },
    hideSecrets: async (text) => redactor.redact(text).text,
  };
}
