/**
 * Reads the values of the headers that go to a collector, where the operator keeps them.
 *
 * INVARIANT: a value that cannot be read, or that others can read, is not used, and nothing is sent in its place.
 */
import type { OtlpSettings } from "../../config/sections/observability.ts";
import type { SecretBroker } from "../../sandbox/net/broker/broker.ts";
import type { Environment } from "../operator/operator-directory.ts";
import { readSource } from "../secrets/secret-sources.ts";

/** What values are read with. */
export interface HeaderMeans {
  readonly environment: Environment;
  /** The operator's secrets as they are now. */
  readonly broker: () => Promise<SecretBroker | undefined>;
}

/** The headers with their values, or what is wrong, for the operator. */
export async function headerValues(
  headers: OtlpSettings["headers"],
  { environment, broker }: HeaderMeans,
): Promise<Readonly<Record<string, string>> | { readonly problem: string }> {
  const values: Record<string, string> = {};
  for (const [name, from] of Object.entries(headers)) {
    const text = "secret" in from ? await secretValue(from.secret, broker) : await readSource(from, environment);
    const value = typeof text === "string" ? text : text?.kind === "read" ? text.text.trim() : undefined;
    if (value === undefined || value === "" || /[^\t\x20-\x7e]/.test(value))
      return { problem: `the value of the header \`${name}\` under \`telemetry.otlp.headers\` cannot be read` };
    values[name] = value;
  }
  return values;
}

async function secretValue(name: string, broker: HeaderMeans["broker"]): Promise<string | undefined> {
  return (await broker())?.secrets.find((secret) => secret.name === name)?.value;
}
