/** Names of the presets that ship with Handrail: which policy applies to a workspace whose operator wrote none. */

/** Names of the presets. */
export const PRESET_NAMES = ["reader", "dev", "autonomous", "open"] as const;
/** One preset. */
export type PresetName = (typeof PRESET_NAMES)[number];
/** The preset of a workspace whose operator chose none. */
export const DEFAULT_PRESET: PresetName = "dev";

/** From the one that allows least to the one that allows most. */
const BY_WIDTH: readonly PresetName[] = ["reader", "autonomous", "dev", "open"];

/** Whether `preset` allows no more than `limit` does. */
export function isWithinPreset(preset: PresetName, limit: PresetName): boolean {
  return BY_WIDTH.indexOf(preset) <= BY_WIDTH.indexOf(limit);
}

/** Whether `name` is a preset. */
export function isPresetName(name: string): name is PresetName {
  return PRESET_NAMES.some((known) => known === name);
}
