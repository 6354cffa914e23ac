/** Who acts where no call does, as the ledger names them: without a session, and without a request. */

/** The kernel itself. */
export const BY_KERNEL = { sessionId: "", actor: "kernel", requestId: "" } as const;

/** The operator, by a file or a command that names nobody. */
export const BY_OPERATOR = { sessionId: "", actor: "operator", requestId: "" } as const;

/** The operator, as the person `name`. */
export function byPerson(name: string) {
  return { sessionId: "", actor: `operator:${name}`, requestId: "" } as const;
}
