/**
 * Caches as empty files in the state directory the policies that were found valid before.
 *
 * Validation is a pure function of the engine's version, the sources and the schema, so that its answer can be kept by
 * their digest. The state directory is the operator's alone. Without it nothing is remembered and everything is
 * validated.
 */
import { existsSync, mkdirSync, readdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blake3Hex } from "../../base/hash.ts";

import type { ValidatedPolicies } from "../../policy/policy.ts";

/** Policies remembered as valid; the oldest go first. */
const VALIDATED_POLICIES_MAX = 64;

/** @param stateDirectory a prepared state directory */
export function validatedPolicies(stateDirectory: string, onError: (error: unknown) => void): ValidatedPolicies {
  const directory = join(stateDirectory, "policies");
  const fileOf = (key: string) => join(directory, `${blake3Hex(key)}.valid`);
  return {
    has: (key) => existsSync(fileOf(key)),
    remember(key) {
      try {
        if (existsSync(fileOf(key))) return;
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        writeFileSync(fileOf(key), "", { mode: 0o600 });
        forgetOldest(directory);
      } catch (error) {
        onError(error); // the next kernel validates again
      }
    },
  };
}

function forgetOldest(directory: string): void {
  const files = readdirSync(directory).map((name) => join(directory, name));
  if (files.length <= VALIDATED_POLICIES_MAX) return;
  const byAge = files.map((path) => ({ path, at: statSync(path).mtimeMs })).sort((left, right) => left.at - right.at);
  for (const { path } of byAge.slice(0, files.length - VALIDATED_POLICIES_MAX)) unlinkSync(path);
}
