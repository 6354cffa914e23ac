/** Names of the presets that ship with Handrail: which policy applies to a workspace whose operator wrote none. */

/** Names of the presets. */
export const PRESET_NAMES = ["reader", "dev", "autonomous", "meao", "brio", "open"] as const;
/** One preset. */
export type PresetName = (typeof PRESET_NAMES)[number];
/** The preset of a workspace whose operator chose none. */
export const DEFAULT_PRESET: PresetName = "dev";

/**
 * By preset: those that allow at least as much. What one asks and another stages cannot be compared, and so is not
 * listed.
 */
const WIDER: Readonly<Record<PresetName, readonly PresetName[]>> = {
  reader: PRESET_NAMES,
  autonomous: ["autonomous", "dev", "open"],
  dev: ["dev", "open"],
  meao: ["meao", "open"],
  brio: ["brio", "open"],
  open: ["open"],
};

/** Whether `preset` allows no more than `limit` does. */
export function isWithinPreset(preset: PresetName, limit: PresetName): boolean {
  return WIDER[preset].includes(limit);
}

/** Whether `name` is a preset. */
export function isPresetName(name: string): name is PresetName {
  return PRESET_NAMES.some((known) => known === name);
}
