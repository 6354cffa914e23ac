/** Names the scheme by which stored content is addressed as a resource of MCP. */

/** How such an address begins; its hash follows. */
export const CONTENT_URI = "handrail://content/";
