/** Names who acts in the ledger where no call does. */

/** The kernel itself. */
export const BY_KERNEL = { sessionId: "", actor: "kernel", requestId: "" } as const;

/** The operator, by a file or a command that names nobody. */
export const BY_OPERATOR = { sessionId: "", actor: "operator", requestId: "" } as const;

/** The operator, as the person `name`. */
export function byPerson(name: string) {
  return { sessionId: "", actor: `operator:${name}`, requestId: "" } as const;
}
