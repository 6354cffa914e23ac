/** How the address of stored content begins, as a resource of MCP; its hash follows. */
export const CONTENT_URI = "handrail://content/";
