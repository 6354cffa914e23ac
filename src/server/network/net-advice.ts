/**
 * Explains attempts to reach a host, and names the narrowest grant that would allow one. Pure.
 */
import type { NetAttempt } from "./net-attempt.ts";

/** A change that would let an attempt through, and whose it is to make. */
export interface Grant {
  readonly by: "agent" | "operator";
  readonly change: string;
}

/** Tools that reach hosts themselves; the others run commands. */
const GIT = /^git/;

/** Why, and what would change it. */
export function grantFor(attempt: Pick<NetAttempt, "host" | "port" | "tool" | "outcome" | "reason" | "secrets">): {
  readonly why: string;
  readonly grant?: Grant;
} {
  const { host, port, tool, outcome, reason = "", secrets } = attempt;
  const server = `${host}:${port}`;
  const operator = (change: string): { readonly grant: Grant } => ({ grant: { by: "operator", change } });
  const agent = (change: string): { readonly grant: Grant } => ({ grant: { by: "agent", change } });
  if (outcome === "allowed") {
    const named = secrets.map((name) => `\`${name}\``).join(", ");
    return { why: secrets.length === 0 ? "the call may reach it" : `the call may reach it, with the secret ${named}` };
  }
  if (reason.startsWith("address_"))
    return {
      why: `the name leads to an address that is not of the public internet (${reason.slice("address_".length).replaceAll("_", " ")})`,
      ...(tool === "web_fetch" && operator(`add \`${server}\` to \`web.private_hosts\` in handrail.yaml`)),
      ...(GIT.test(tool) && operator(`add \`${server}\` to \`git.private_hosts\` in handrail.yaml`)),
    };
  switch (reason) {
    case "denied":
      return {
        why: "the call did not name it, so that neither policy nor a person has seen it",
        ...agent(
          `name \`${server}\` in a call of \`${tool}\` that asks for the network; \`handrail policy explain\` says what policy makes of that`,
        ),
      };
    case "blocked_port":
      return {
        why: `port ${port} is closed for every host`,
        ...operator(`leave ${port} out of \`capabilities.${tool}.network.blockedPorts\` in handrail.yaml`),
      };
    case "secret_binding":
      return {
        why: "a secret stood where it is not bound to",
        ...operator(`bind it by \`handrail secrets add NAME --to ${server} --in …\`, if it belongs there`),
      };
    case "secret_unavailable":
      return { why: "the value of a secret could not be read", ...operator("run `handrail secrets check`") };
    case "certificate":
      return {
        why: "the server did not prove to be that host",
        ...operator("name the authority of its certificate in `web.certificate_authorities`, if it has one of its own"),
      };
    case "client_certificate":
      return {
        why: "the program believes the server alone, and not the kernel, which speaks for a server that a secret is bound to",
        ...agent("let the program read its authorities from `SSL_CERT_FILE`, which the command has in its environment"),
      };
    case "server_name":
      return { why: "inside of the tunnel another server was named", ...agent("ask for that server by its own name") };
    case "undecided":
    case "fault":
      return { why: "the kernel failed to decide or to pass it on; its log says more" };
    default:
      return { why: OTHERWISE[reason] ?? "it did not come about" };
  }
}

/** What no grant changes. */
const OTHERWISE: Readonly<Record<string, string>> = {
  malformed: "the request, or its answer, could be read in two ways",
  unknown_host: "no address is known for the name",
  no_connection: "the server takes no connection at that port",
  no_answer: "the server gave no answer that can be read",
  too_many: "the command made more attempts than any may",
  too_many_bytes: "the command moved more bytes than it may",
  timeout: "the server did not answer in time",
  closed: "the command ended first",
};
