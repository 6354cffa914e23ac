/** Names the scheme by which stored content is addressed as a resource of MCP. */

/** How such an address begins; its hash follows. */
export const CONTENT_URI = "handrail://content/";
/** The address of what a session may use. */
export const SESSION_TOOLS_URI = "handrail://session/tools";
