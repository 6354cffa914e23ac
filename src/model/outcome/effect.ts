/**
 * Defines the classes of effect that a tool has on the world.
 *
 * The effect class is the coarsest fact that policy, durability and approval look at.
 */

/** Effect classes, from harmless to far-reaching. */
export const EFFECT_CLASSES = ["read", "write", "exec", "network", "system", "control"] as const;
/** One effect class. Every class but `read` has a durable intent before its effect. */
export type EffectClass = (typeof EFFECT_CLASSES)[number];
