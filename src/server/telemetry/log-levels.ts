/** Reads which lines of the structured log are wanted: a level for all areas, and levels for single ones. */
import { configInvalid } from "../../base/errors.ts";

/** Levels, from silent to talkative. */
export const LOG_LEVELS = ["off", "error", "warn", "info", "debug"] as const;
/** One level. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Areas of a kernel that lines come from. */
export const LOG_AREAS = [
  /** Its beginning and end, bugs and warnings. */
  "kernel",
  /** Each answered call. */
  "calls",
  /** The security audit. */
  "security",
  /** Commands that ran. */
  "sandbox",
  "ledger",
  "stores",
  /** Settings, policies and gates that were loaded or rejected. */
  "config",
  /** What went wrong at front doors. */
  "doors",
  /** Exports to a collector. */
  "telemetry",
] as const;
/** One area. */
export type LogArea = (typeof LOG_AREAS)[number];

/** The level of each area. */
export type LogLevels = Readonly<Record<LogArea, LogLevel>>;

/**
 * Reads `info`, or `sandbox=debug,kernel=warn`; areas that are not named have the level that stands alone, `info`
 * where none does.
 * @param source what says so, for messages
 * @throws KernelError CONFIG_INVALID for an area or level that there is not
 */
export function parseLogLevels(text: string, source: string): LogLevels {
  const named = new Map<string, LogLevel>();
  let all: LogLevel = "info";
  for (const part of text.split(",")) {
    const [area = "", level] = part.trim().split("=", 2);
    if (area === "" && level === undefined) continue;
    if (level === undefined) all = levelNamed(area, source);
    else named.set(areaNamed(area.trim(), source), levelNamed(level.trim(), source));
  }
  const levels = LOG_AREAS.map((area) => [area, named.get(area) ?? all] as const);
  return Object.fromEntries(levels) as LogLevels;
}

function levelNamed(text: string, source: string): LogLevel {
  const level = LOG_LEVELS.find((one) => one === text);
  if (level !== undefined) return level;
  throw configInvalid(`${source} names the level \`${text.slice(0, 64)}\`; there are ${LOG_LEVELS.join(", ")}`);
}

function areaNamed(text: string, source: string): LogArea {
  const area = LOG_AREAS.find((one) => one === text);
  if (area !== undefined) return area;
  throw configInvalid(`${source} names the area \`${text.slice(0, 64)}\`; there are ${LOG_AREAS.join(", ")}`);
}
