/** A context of a secret: how people write a name and its value, and how the value is spelled there. */

/** A way to write a value. */
export interface Context {
  /** What says that it is secret: its name, its place (a password's option), or nothing but its looks. */
  readonly cue: "name" | "place" | "none";
  readonly title: string;
  readonly write: (name: string, value: string) => string;
  /** How the value itself is spelled there. */
  readonly escape?: (value: string) => string;
  /** Values that nobody could write there, such as one with spaces where words end. */
  readonly excludes?: RegExp;
  /** A place for keys that machines made, where no chosen password stands. */
  readonly keysOnly?: true;
}

/** The spelling of a value inside quotes of JSON and of most languages. */
export const inQuotes = (value: string): string => JSON.stringify(value).slice(1, -1);
/** In a component of an address. */
export const inAddress = (value: string): string => encodeURIComponent(value).replace(/'/g, "%27");
/** In a text of XML. */
export const inXml = (value: string): string =>
  value.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
/** Within single quotes of a shell. */
export const inShell = (value: string): string => value.replace(/'/g, "'\\''");
/** Within single quotes of SQL and YAML. */
export const inSql = (value: string): string => value.replace(/'/g, "''");
