/**
 * The operator's secrets: adds, shows, checks, renews and removes them.
 *
 * What is written down is where a value is kept and what it is bound to; values stay where they are, or go into the
 * keyring. INVARIANTS: no value is ever shown or written anywhere else. A change is recorded before it holds.
 */
import { randomInt } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { OneSecretSettings, PlainSource } from "../../config/sections/secrets.ts";
import { BY_OPERATOR } from "../../ledger/actors.ts";
import type { EventSink, EventType } from "../../model/outcome/event.ts";
import { SECRET_NAME, type SecretBinding } from "../../model/reach/secrets.ts";
import { newPlaceholder } from "../../sandbox/net/broker/placeholder.ts";
import { whereOf } from "../../sandbox/net/broker/substitute.ts";
import { nearestName } from "../../text/near-miss.ts";
import { type Environment, readOperatorDirectory } from "../operator/operator-directory.ts";
import { requireOperatorDirectory, SettingsFile } from "../operator/settings-file.ts";
import { removeKeyring, writeKeyring } from "./keyring.ts";
import { readSource, sourceName } from "./secret-sources.ts";
import { secretsOf } from "./secret-values.ts";

/** What the desk works on. */
export interface SecretDeskParts {
  readonly operatorPath: string;
  readonly environment: Environment;
  readonly ledger: EventSink;
  readonly clock: Clock;
}

/** A secret as it is shown. */
export interface ShownSecret {
  readonly name: string;
  /** Where it is kept, in words. */
  readonly from: string;
  readonly placeholder: string;
  /** What it is for, in words. */
  readonly bound: string;
  readonly bindings: readonly SecretBinding[];
}

/** A secret, and whether its value can be read. */
export interface CheckedSecret extends ShownSecret {
  /** Absent where nothing is wrong. */
  readonly problem?: string;
}

/** A secret that is to be, or one more binding of one that is. */
export interface SecretWish {
  readonly name: string;
  /** Where the value is kept; absent for one more binding. */
  readonly from?: PlainSource;
  /** As `handrail.yaml` has it. */
  readonly binding: JsonObject;
  readonly placeholder?: string;
  /** Goes into the keyring. */
  readonly value?: string;
  readonly by: string;
}

/** The desk. */
export class SecretDesk {
  readonly #parts: SecretDeskParts;

  constructor(parts: SecretDeskParts) {
    this.#parts = parts;
  }

  /** What there is now. */
  async list(): Promise<readonly ShownSecret[]> {
    const { settings } = await readOperatorDirectory(this.#parts.operatorPath);
    return Object.entries(settings.secrets).map(([name, secret]) => shown(name, secret));
  }

  /** The same, each value read where it is kept. */
  async check(name?: string): Promise<readonly CheckedSecret[]> {
    const operator = await readOperatorDirectory(this.#parts.operatorPath);
    const { problems } = await secretsOf(operator, this.#parts.environment);
    const all = (await this.list()).map((secret): CheckedSecret => {
      const problem = problems.get(secret.name);
      return { ...secret, ...(problem !== undefined && { problem }) };
    });
    if (name === undefined) return all;
    const found = all.filter((secret) => secret.name === name);
    if (found.length === 0) throw noSecret(name, all);
    return found;
  }

  /** Adds a secret, or one more binding. @throws KernelError USAGE, CONFIG_INVALID */
  async add(wish: SecretWish): Promise<ShownSecret> {
    const { name, by } = wish;
    if (!SECRET_NAME.test(name)) throw usageError(`\`${name}\` is no name of a variable; write it as in \`API_KEY\``);
    const keep = async () => {
      if (wish.from !== undefined && "keyring" in wish.from && wish.value !== undefined)
        await writeKeyring(wish.from.keyring, wish.value);
    };
    return this.#change("secret_added", { name, by, keep }, async (before) => {
      if (before === undefined) return this.#made(wish);
      if (wish.from !== undefined)
        throw usageError(
          `there is a secret \`${name}\`; leave \`--from\` out to bind it to one more server, or remove it first`,
        );
      return { ...before, bindings: [...(before["bindings"] as JsonObject[]), wish.binding] };
    });
  }

  /** Removes a secret; its entry of the keyring goes, too. */
  async remove(name: string, by: string): Promise<ShownSecret> {
    const [removed] = (await this.list()).filter((secret) => secret.name === name);
    if (removed === undefined) throw noSecret(name, await this.list());
    const { settings } = await readOperatorDirectory(this.#parts.operatorPath);
    await this.#change("secret_removed", { name, by }, async () => undefined);
    const { [name]: gone, ...others } = settings.secrets;
    const entry = gone !== undefined && "keyring" in gone.from ? gone.from.keyring : undefined;
    const isShared = Object.values(others).some(({ from }) => "keyring" in from && from.keyring === entry);
    if (entry !== undefined && !isShared) await removeKeyring(entry);
    return removed;
  }

  /**
   * Takes a new value into use, under the same placeholder.
   * @param value goes into the keyring, for secrets that are kept there
   */
  async rotate(name: string, by: string, value?: string): Promise<CheckedSecret> {
    const { settings } = await readOperatorDirectory(this.#parts.operatorPath);
    const from = settings.secrets[name]?.from;
    if (from === undefined) throw noSecret(name, await this.list());
    if ("keyring" in from) {
      if (value === undefined) throw usageError(`the new value of \`${name}\` comes on standard input; pipe it in`);
      await writeKeyring(from.keyring, value);
    } else if (value !== undefined)
      throw usageError(
        `\`${name}\` is kept in ${sourceName(from)}; write the new value there, then run this without input`,
      );
    await this.#record("secret_rotated", { name, by });
    const [checked] = await this.check(name);
    if (checked === undefined) throw noSecret(name, []);
    return checked;
  }

  async #made({ name, from, binding, placeholder, value }: SecretWish): Promise<JsonObject> {
    if (from === undefined)
      throw usageError(
        `there is no secret \`${name}\`; say where its value is kept: \`--from env:NAME\`, \`file:/PATH\`, \`command:PROGRAM\` or \`keyring\``,
      );
    if ("keyring" in from && value === undefined) throw usageError("the value comes on standard input; pipe it in");
    const found =
      value === undefined ? await readSource(from, this.#parts.environment) : ({ kind: "read", text: value } as const);
    const text = found.kind === "read" ? found.text.trim() : "";
    if (text === "" && placeholder === undefined) {
      const why = found.kind === "problem" ? found.problem : `${sourceName(from)} is empty here`;
      throw usageError(
        `the value cannot be read, and its placeholder has the same shape: ${why}; mend that, or give one by \`--placeholder\``,
      );
    }
    const written = { from: from as unknown as JsonObject, bindings: [binding] };
    // whoever reads the configuration must not learn the value from it
    if (text !== "" && JSON.stringify({ ...written, placeholder: placeholder ?? "" }).includes(text))
      throw usageError("what would be written holds the value itself; name where it is kept, and leave it out");
    return { ...written, placeholder: placeholder ?? newPlaceholder(text, (below) => randomInt(below)) };
  }

  async #change(
    type: EventType,
    { name, by, keep }: { readonly name: string; readonly by: string; readonly keep?: () => Promise<void> },
    change: (before: JsonObject | undefined) => Promise<JsonObject | undefined>,
  ): Promise<ShownSecret> {
    const { operatorPath } = this.#parts;
    requireOperatorDirectory(operatorPath);
    const file = await SettingsFile.lock(operatorPath);
    try {
      const { editSecret, writtenSecret } = await import("../../config/secret-edit.ts");
      const written = await change(writtenSecret(file.text, name));
      const text = await editSecret(file.text, file.path, { name, written });
      const { parseSettings } = await import("../../config/config.ts");
      const now = (await parseSettings(text, file.path)).secrets[name];
      const secret = now === undefined ? undefined : shown(name, now);
      await keep?.(); // once everything else is known to be right
      await this.#record(type, { name, by, ...(secret && { bound: secret.bound, from: secret.from }) });
      await file.replace(text);
      return secret ?? { name, from: "", placeholder: "", bound: "", bindings: [] };
    } finally {
      await file.unlock();
    }
  }

  async #record(type: EventType, facts: JsonObject): Promise<void> {
    const { ledger, clock } = this.#parts;
    await ledger.record(
      { type, ...BY_OPERATOR, timeMs: clock.nowMs(), payload: { ...facts, severity: "warning" } },
      "durable",
    );
  }
}

function shown(name: string, { from, placeholder, bindings }: OneSecretSettings): ShownSecret {
  return { name, from: sourceName(from), placeholder, bound: whereOf(bindings), bindings };
}

function noSecret(name: string, all: readonly ShownSecret[]) {
  const meant = nearestName(
    name,
    all.map((secret) => secret.name),
  );
  return usageError(
    `there is no secret \`${name}\`; ${meant === undefined ? "`handrail secrets ls` lists them" : `did you mean \`${meant}\`?`}`,
  );
}
