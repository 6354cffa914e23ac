/** The reasons of refusals that the product's own code and its shipped policies can give, found in their sources. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Every reason, pinned. */
export const REASONS = [
  "budget_exceeded",
  "flow_secret_content",
  "flow_secret_egress",
  "flow_sensitive_egress",
  "flow_untrusted_exec",
  "lease_expired",
  "lease_scope",
  "permission_denied",
  "redaction_marker_in_content",
  "session_expired",
  "session_frozen",
  "session_invalid",
  "session_revoked",
  "shell_exec_denied",
  "skill_tool_constraint_failed",
  "skill_tool_input_invalid",
  "skill_tool_input_unreadable",
  "skill_tool_not_allowed",
  "tool_approval_denied",
  "tool_approval_expired",
  "tool_approval_invalid",
  "tool_approval_request_failed",
  "tool_approval_required",
  "tool_call_invalid",
  "tool_input_invalid",
  "tool_input_read_failed",
  "tool_not_allowed",
  "tool_not_implemented",
  "tool_output_invalid",
  "tool_policy_invalid",
  "tool_requires_arming",
  "tool_spec_invalid",
  "tool_spec_missing",
  "tools_disabled",
  "validation_failed",
  "workspace_blocked_zone",
  "workspace_device_boundary",
  "workspace_hard_link",
  "workspace_path_escape",
  "workspace_path_traversal",
  "workspace_read_only",
  "workspace_symlink_escape",
];

/** Literals that look like a reason: words of one of the families that reasons belong to, joined by `_`. */
const REASON = /^(validation|session|redaction|tools?|lease|permission|skill|workspace|flow|budget)_[a-z]+(_[a-z]+)*$/;
/** Events of the ledger that are named like reasons, which they are as well. */
const EVENTS_TOO: ReadonlySet<string> = new Set(["session_revoked", "tool_approval_required"]);

/** Members, folders and kinds of documents of calls, which look like reasons and are none. */
const DOCUMENT_WORDS = [
  "tool_call_id",
  "tool_calls",
  "tool_id",
  "tool_input",
  "tool_input_ref",
  "tool_inputs",
  "tool_outputs",
  "tool_policy",
  "tool_spec",
  "tool_use",
];

/** The reasons, sorted. `events`: names of events, which look like reasons and are none. */
export function reasonsInCode(events: readonly string[]): readonly string[] {
  const others = new Set(["session_token", ...DOCUMENT_WORDS, ...events.filter((name) => !EVENTS_TOO.has(name))]);
  const found = productFiles()
    .flatMap((path) => literalsOf(path))
    .filter((text) => REASON.test(text) && !others.has(text));
  return [...new Set([...found, ...rationales()])].sort();
}

/** A source file of the project. */
export function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readFileSync(join(ROOT, path), "utf8"), ts.ScriptTarget.ESNext, true);
}

function productFiles(): string[] {
  return readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !/^(?:gen|server\/metrics)\//.test(path))
    .map((path) => join("src", path));
}

/** String literals that are values: not the names of modules, and not types. */
function literalsOf(path: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isStringLiteral(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(parse(path));
  return found;
}

/** What the shipped policies give as their reason. */
function rationales(): string[] {
  return readdirSync(join(ROOT, "presets")).flatMap((name) =>
    [...readFileSync(join(ROOT, "presets", name), "utf8").matchAll(/@rationale\("([^"]*)"\)/g)].map(
      ([, rationale]) => rationale ?? "",
    ),
  );
}
