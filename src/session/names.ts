/**
 * Checks the names of users and agents, and makes one of the name that a client gives itself.
 *
 * A client's name is its own claim. It tells clients apart, so that one's violations do not freeze another; it proves
 * nothing. What holds for a principal holds for a name whatever its letters' case, so that no other spelling escapes
 * it.
 */
import { usageError } from "../base/errors.ts";
import { MAX_ID_LEN, SESSION_LIFETIME_MAX_MS } from "../base/limits.ts";

/** Characters of a name that are kept: more than any client's name has. */
const CLIENT_NAME_CHARACTERS_MAX = 64;

/** Names that Handrail's own front doors act under; a client that takes one is named apart from them. */
const OWN_AGENTS: ReadonlySet<string> = new Set(["agent", "cli", "explain", "library", "mcp", "start"]);

/** The agent's name, or `undefined` where nothing is left that could be one. */
export function clientAgent(clientName: string): string | undefined {
  const name = clientName
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^a-z0-9._@+-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, CLIENT_NAME_CHARACTERS_MAX);
  if (name === "") return undefined;
  return OWN_AGENTS.has(name) ? `client-${name}` : name;
}

/**
 * Refuses a name of which evidence could not say whose it is: `USER/AGENT` names an agent, `operator:NAME` an operator.
 * @throws KernelError USAGE
 */
export function requireName(name: string, what: "user" | "agent"): void {
  const isOdd =
    name === "" ||
    name.length > 2 * MAX_ID_LEN ||
    [...name].length > MAX_ID_LEN ||
    /\p{Cc}/u.test(name) ||
    !name.isWellFormed();
  const isTaken = what === "user" && (name.includes("/") || name.startsWith("operator:"));
  if (!isOdd && !isTaken) return;
  const rule = `1 to ${MAX_ID_LEN} characters without control characters`;
  const more = what === "user" ? ", no `/`, and does not begin with `operator:`" : "";
  throw usageError(`the ${what}'s name cannot be used: it has ${rule}${more}; choose another one`);
}

/** Milliseconds that a lease may live. @throws KernelError USAGE */
export function checkedLifetime(lifetimeMs: number): number {
  if (lifetimeMs > 0 && lifetimeMs <= SESSION_LIFETIME_MAX_MS) return lifetimeMs;
  throw usageError("a lease lives between one millisecond and thirty days; choose a lifetime in that range");
}
