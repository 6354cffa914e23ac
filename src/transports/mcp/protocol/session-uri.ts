/** Names the address at which a session reads which tools it may use, as a resource of MCP. */

/** The address of what a session may use. */
export const SESSION_TOOLS_URI = "handrail://session/tools";
