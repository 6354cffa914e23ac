/**
 * The service `ToolKernel`: what an agent asks of the kernel.
 *
 * A denied or failed call is a `ToolResponse` like any other. The request's bytes come from the exchange, never from
 * the RPC library, so that the kernel's own decoder judges them.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { textOf, utf8 } from "../../../base/bytes.ts";
import { canonicalJson } from "../../../base/json.ts";
import {
  type ExecuteEventSchema,
  type ToolDescriptionSchema,
  ToolKernel,
} from "../../../gen/handrail/tool/v1/kernel_pb.ts";
import type { KernelDoor, Submission, ToolDefinition } from "../../../kernel/index.ts";
import type { ProgressReport } from "../../../model/outcome/progress.ts";
import { toWireResponse } from "../../../wire/protobuf.ts";
import { EXCHANGE } from "../wire/exchange.ts";
import { faultOf, refusedFault } from "../wire/faults.ts";
import type { ConnectLimits } from "../wire/limits.ts";
import { malformed, record } from "../wire/refusal.ts";
import { bearerToken } from "./bearer.ts";
import { getContent, putContent } from "./content-service.ts";
import { EventQueue } from "./event-queue.ts";
import { checkedId } from "./request-id.ts";
import { UploadShares } from "./upload-shares.ts";

/** What the service needs of its surroundings. */
export interface KernelServiceHost {
  readonly door: Pick<KernelDoor, "execute" | "admit" | "tools" | "putContent" | "getContent" | "recordRefusal">;
  /** Names requests that name themselves by nothing. */
  readonly newRequestId: () => string;
  readonly limits: Pick<ConnectLimits, "sessionUploadsMax">;
  readonly onError: (error: unknown) => void;
}

/** Methods whose message only the kernel decodes. */
export const RAW_METHODS = [ToolKernel.method.execute, ToolKernel.method.executeStream] as const;

/** The service of a kernel. */
export function kernelService(host: KernelServiceHost): ServiceImpl<typeof ToolKernel> {
  const { door, newRequestId, onError } = host;
  const shares = new UploadShares(host.limits.sessionUploadsMax);
  const admitted = async (requestId: string, context: HandlerContext): Promise<void> => {
    const asker = {
      requestId: checkedId(requestId) || newRequestId(),
      sessionToken: bearerToken(context.requestHeader),
    };
    const admission = await door.admit(asker);
    if (admission.kind === "refused") throw refusedFault(admission.response);
  };
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      await record(door, error);
      throw faultOf(error, onError);
    }
  };
  return {
    execute: (_, context) =>
      guarded(async () => toWireResponse(await door.execute(submissionOf(context), context.signal, traceOf(context)))),
    async *executeStream(_, context) {
      const reports = new EventQueue();
      const submission = await guarded(async () => submissionOf(context));
      const answered = door.execute(submission, context.signal, { listener: reports.push, ...traceOf(context) });
      for await (const report of reports.until(answered)) yield eventOf(report);
      yield { event: { case: "response", value: toWireResponse(await answered) } };
    },
    listTools: ({ requestId }, context) =>
      guarded(async () => {
        await admitted(requestId, context);
        return { tools: door.tools().map(descriptionOf) };
      }),
    putContent: (parts, context) => guarded(() => putContent({ host, shares }, parts, context)),
    getContent: (wanted, context) => getContent(host, wanted, context),
    getReceipt: ({ requestId }, context) =>
      guarded(async () => {
        await admitted("", context);
        throw new ConnectError(
          `there is no receipt of \`${checkedId(requestId)}\`: this kernel signs no checkpoints yet, so it can prove no entry to others; the operator can read and verify the ledger itself`,
          Code.FailedPrecondition,
        );
      }),
  };
}

/** The caller's place in a trace, as it was sent. */
function traceOf({ requestHeader }: HandlerContext): { readonly traceparent?: string } {
  const traceparent = requestHeader.get("traceparent");
  return traceparent === null ? {} : { traceparent };
}

/** The request of a tool call as it came. */
function submissionOf(context: HandlerContext): Submission {
  const message = context.values.get(EXCHANGE)?.message;
  if (message === undefined) throw malformed("the body holds no message; send exactly one");
  if (message.format === "proto") return { kind: "wire", bytes: message.bytes };
  const text = textOf(message.bytes);
  if (text === undefined) throw malformed("the request is not UTF-8");
  return { kind: "json", text };
}

function eventOf(report: ProgressReport): MessageInitShape<typeof ExecuteEventSchema> {
  if (report.kind === "output")
    return { event: { case: "output", value: { stream: report.stream, data: report.bytes } } };
  const { completed, total, message = "" } = report;
  return { event: { case: "progress", value: { completed, message, ...(total !== undefined && { total }) } } };
}

function descriptionOf(tool: ToolDefinition): MessageInitShape<typeof ToolDescriptionSchema> {
  const { name, title, description, effect, inputSchema, outputSchema } = tool;
  return {
    name,
    title,
    description,
    effect,
    inputSchemaJson: utf8(canonicalJson(inputSchema)),
    ...(outputSchema !== undefined && { outputSchemaJson: utf8(canonicalJson(outputSchema)) }),
  };
}
