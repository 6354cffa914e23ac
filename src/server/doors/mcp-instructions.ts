/** Tells an MCP client's model in two sentences what the tools of its session are. */
import type { Session } from "../../model/people/session.ts";

/** The instructions of one session's server. */
export function mcpInstructions({ role, preset }: Pick<Session, "role" | "preset">): string {
  return `Tools work on the files of one workspace; paths are relative to its root. Role \`${role}\`, preset \`${preset}\`. A refused call says which rule refused it and what to do next.`;
}
