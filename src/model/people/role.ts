/** Roles of Flow's matrix (§2.4). A role never grants by itself: `required_role` and policy consult it. */

/** The roles that exist without the operator defining any. */
export const BUILT_IN_ROLES = ["dev", "sre", "release_manager", "product_owner"] as const;
/** Roles whose every action stands in the security audit. */
export const PRIVILEGED_ROLES: ReadonlySet<Role> = new Set<Role>(["sre", "release_manager"]);
/** A role id: a built-in one or one that the operator defined. */
export type Role = string;
/** What a role id looks like; it becomes part of file names and policy text. */
export const ROLE_PATTERN = /^[a-z][a-z0-9_-]{0,63}$/;
