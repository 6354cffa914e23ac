/**
 * Derives the wire shape of each protocol message from the generated descriptors, once.
 *
 * The shape is the wire type of every field number, whether it may repeat, and the shape of nested messages.
 */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { KernelError } from "../base/errors.ts";
import { ToolRequestSchema, ToolResponseSchema } from "../gen/handrail/tool/v1/tool_pb.ts";

/** How a field's payload is read. */
export type PayloadKind = "string" | "bytes" | "message" | "bool" | "uint32" | "uint64";

/** One field. */
export interface FieldShape {
  readonly name: string;
  readonly kind: PayloadKind;
  readonly repeated: boolean;
  /** Position among the fields that may come once, as a bit; 0 for a repeated field. */
  readonly bit: number;
  /** The bits of the variants of the field's oneof, its own included; 0 outside of one. */
  readonly oneofBits: number;
  readonly oneofName: string;
  readonly child: MessageShape | undefined;
}

/** One message: its fields by number. */
export interface MessageShape {
  readonly name: string;
  readonly fields: ReadonlyMap<number, FieldShape>;
}

/** Fields that may come once; they must fit into the bits of a small integer. */
const SINGULAR_FIELDS_MAX = 30;

/** The shape of a request. */
export const REQUEST_SHAPE: MessageShape = shapeOf(ToolRequestSchema);
/** The shape of a response. */
export const RESPONSE_SHAPE: MessageShape = shapeOf(ToolResponseSchema);

function shapeOf(message: DescMessage): MessageShape {
  const singular = message.fields.filter((field) => field.fieldKind !== "list");
  if (singular.length > SINGULAR_FIELDS_MAX)
    throw new KernelError("INTERNAL", `message \`${message.name}\` has too many fields`);
  const bitOf = (field: DescField) => (field.fieldKind === "list" ? 0 : 1 << singular.indexOf(field));
  const fields = new Map<number, FieldShape>();
  for (const field of message.fields) {
    const variants = field.oneof?.fields ?? [];
    fields.set(field.number, {
      name: field.name,
      kind: kindOf(field),
      repeated: field.fieldKind === "list",
      bit: bitOf(field),
      oneofBits: variants.reduce((bits, variant) => bits | bitOf(variant), 0),
      oneofName: field.oneof?.name ?? "",
      child: field.message === undefined ? undefined : shapeOf(field.message),
    });
  }
  return { name: message.name, fields };
}

function kindOf(field: DescField): PayloadKind {
  if (field.message !== undefined) return "message";
  const scalar = field.fieldKind === "scalar" || field.fieldKind === "list" ? field.scalar : undefined;
  switch (scalar) {
    case ScalarType.STRING:
      return "string";
    case ScalarType.BYTES:
      return "bytes";
    case ScalarType.BOOL:
      return "bool";
    case ScalarType.UINT32:
      return "uint32";
    case ScalarType.UINT64:
      return "uint64";
    default:
      throw new KernelError("INTERNAL", `field \`${field.name}\` has a type that the scanner does not know`);
  }
}
