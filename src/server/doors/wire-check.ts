/**
 * Validates a request given as bytes or JSON, and reports every violation.
 *
 * This is the logic of `handrail wire validate`: it says what the kernel's decoder and validator would say, and touches
 * nothing.
 */
import type { Violation } from "../../model/outcome/decision.ts";
import { validateRequest } from "../../validate/validate.ts";
import { WireError } from "../../wire/index.ts";
import { decodeRequest, requestFromJson } from "../../wire/protobuf.ts";

/** The verdict over one request. */
export interface RequestCheck {
  readonly valid: boolean;
  readonly violations: readonly Violation[];
}

/**
 * Checks an encoded `ToolRequest` or its proto3 JSON text. Input that cannot be decoded is one violation: the rule
 * `decode` of no field, or `mutually_exclusive` of `tool` for two variants (INV-0004).
 */
export function checkRequest(input: Uint8Array | string): RequestCheck {
  let request: ReturnType<typeof decodeRequest>;
  try {
    request = typeof input === "string" ? requestFromJson(input) : decodeRequest(input);
  } catch (error) {
    if (error instanceof WireError) return { valid: false, violations: [error.violation] };
    throw error;
  }
  const violations = validateRequest(request);
  return { valid: violations.length === 0, violations };
}
