/** The operator's list of what is deleted without a prompt, for tests that are about something else. */
export const DELETES_ANYTHING = `@id("test.deletes")
@message("m")
@waives("CAPABILITY:delete_file:unrecoverable")
permit (principal, action == Handrail::Action::"delete_file", resource is Handrail::File);
`;
