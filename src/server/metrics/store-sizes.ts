/** Measures the databases of a state directory. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Databases of a state directory, by the name of their file. */
const DATABASE = /^([a-z]+)\.db(?:-wal|-shm)?$/;
/** Files of a state directory that are looked at. */
const FILES_MAX = 10_000;

/** Values of one metric, by the values of its labels in their order. */
export type Values = readonly (readonly [labels: readonly string[], value: number])[];

/** Bytes by database; a file that goes meanwhile counts nothing. */
export function storeValues(stateDirectory: string): Values {
  const bytes = new Map<string, number>();
  for (const name of readdirSync(stateDirectory).slice(0, FILES_MAX)) {
    const store = DATABASE.exec(name)?.[1];
    const size = statSync(join(stateDirectory, name), { throwIfNoEntry: false })?.size ?? 0;
    if (store !== undefined) bytes.set(store, (bytes.get(store) ?? 0) + size);
  }
  return [...bytes].map(([store, size]) => [[store], size] as const);
}
