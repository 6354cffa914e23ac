/** Questions of a stranger's program to the person at the client that made a call, and their answers. */
import type { JsonObject } from "../../base/json.ts";

/** A form of a few plain fields. */
export interface PersonForm {
  readonly message: string;
  /** JSON Schema of the fields, in the words of the stranger. */
  readonly schema: JsonObject;
}

/** What came of it: `cancel` also where nobody was asked, or answered. */
export type PersonAnswer =
  | { readonly kind: "accept"; readonly content: JsonObject }
  | { readonly kind: "decline" }
  | { readonly kind: "cancel" };

/** Shows a form to the person, and waits until they answer or `signal` aborts. Never rejects. */
export type AskPerson = (form: PersonForm, signal: AbortSignal) => Promise<PersonAnswer>;
