/** Loads dialects with their first use: most sessions speak none. */
import type { DialectName } from "../../model/people/dialect.ts";
import type { Dialect } from "../../wire/dialects/dialect.ts";

/** The dialect of that name. */
export async function loadDialect(name: DialectName): Promise<Dialect> {
  const { DIALECTS } = await import("../../wire/dialects/index.ts");
  return DIALECTS[name];
}
