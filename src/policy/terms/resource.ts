/**
 * Resources as data from outside: examples and recorded accesses name them alike. Strict: unknown members are refused.
 */
import * as z from "zod";
import { MAX_COMMAND_LEN, MAX_PATH_LEN, MAX_REPEATED_ITEMS } from "../../base/limits.ts";
import { EFFECT_CLASSES } from "../../model/outcome/effect.ts";
import { COMMAND_DANGERS, type CommandResource, shellCharacters } from "../../model/place/command.ts";

const text = z.string().min(1).max(MAX_PATH_LEN);
/** A zone's name. */
export const zoneSchema = z.enum(["own", "protected", "shared", "managed", "secret"]);

const words = z.array(z.string().max(MAX_COMMAND_LEN)).max(MAX_REPEATED_ITEMS);

/** A person may write the line alone: its words are then what blanks part, and nothing is special about it. */
const command = z
  .strictObject({
    kind: z.literal("command"),
    binary: text,
    line: z.string().min(1).max(MAX_COMMAND_LEN),
    arguments: words.exactOptional(),
    dynamic: z.boolean().default(false),
    inputFrom: words.default([]),
    via: words.default([]),
    dangers: z.array(z.enum(COMMAND_DANGERS)).default([]),
    reasons: words.exactOptional(),
    characters: words.exactOptional(),
  })
  .transform(
    (given): CommandResource => ({
      ...given,
      arguments: given.arguments ?? given.line.split(/\s+/).slice(1),
      characters: given.characters ?? shellCharacters(given.line),
    }),
  );

const others = [
  z.strictObject({ kind: z.literal("tool"), name: text }),
  z.strictObject({ kind: z.literal("host"), host: text, port: z.int().min(0).max(65_535) }),
  command,
  z.strictObject({
    kind: z.literal("git_ref"),
    remote: text.exactOptional(),
    ref: text,
    operation: text.exactOptional(),
    force: z.literal(true).exactOptional(),
    protected: z.literal(true).exactOptional(),
    dryRun: z.literal(true).exactOptional(),
    commit: text.exactOptional(),
  }),
  z.strictObject({ kind: z.literal("model"), provider: text, model: text }),
  z.strictObject({
    kind: z.literal("package"),
    manager: text,
    name: text,
    version: z.string().max(MAX_PATH_LEN).default(""),
  }),
  z.strictObject({ kind: z.literal("artifact"), id: text }),
] as const;
const root = z.enum(["service", "project", "scratch"]).default("service");

/** A resource as a person writes it: a file lies in the zone `own` unless something else is said. */
export const resourceSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("file"), path: text, root, zone: zoneSchema.default("own") }),
  ...others,
]);

/** A resource as it was recorded: the zone of a file was looked at then, and is not guessed now. */
const recordedResource = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("file"), path: text, root, zone: zoneSchema }),
  ...others,
]);

/** An access as it was recorded. */
export interface RecordedAccess {
  readonly resource: z.infer<typeof recordedResource>;
  readonly effect: (typeof EFFECT_CLASSES)[number];
  readonly action?: string;
  /** Whether it would have written or sent a secret. */
  readonly carriesSecret: boolean;
  /** Whether it would only have asked, and sent nothing. */
  readonly sendsNothing?: true;
}

interface RecordedFact {
  readonly effect: unknown;
  readonly secret?: unknown;
  readonly action?: unknown;
  readonly sendsNothing?: unknown;
}

/** The access that a recorded fact names; `undefined` when it does not say enough. */
export function parseRecordedAccess(fact: unknown): RecordedAccess | undefined {
  if (typeof fact !== "object" || fact === null || !("effect" in fact)) return undefined;
  const { effect, secret, action, sendsNothing, ...rest }: RecordedFact = fact;
  const parsed = recordedResource.safeParse(rest);
  const known = EFFECT_CLASSES.find((one) => one === effect);
  if (!parsed.success || known === undefined || (secret !== undefined && secret !== true)) return undefined;
  if (sendsNothing !== undefined && sendsNothing !== true) return undefined;
  if (action !== undefined && typeof action !== "string") return undefined;
  return {
    resource: parsed.data,
    effect: known,
    carriesSecret: secret === true,
    ...(action !== undefined && { action }),
    ...(sendsNothing === true && { sendsNothing }),
  };
}
