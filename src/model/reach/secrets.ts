/**
 * Defines secrets that the kernel puts into requests, in place of what agents and commands know of them.
 *
 * An agent and its commands see a placeholder in the shape of the real value. INVARIANT: a value leaves towards a
 * server, a path, a method and a place that its binding names, and nowhere else (SPEC §13).
 */

/** Where in a request a secret stands. */
export type SecretPlace =
  /** A header's value, or a part of it, as in `Bearer …`. */
  | { readonly kind: "header"; readonly name: string }
  /** The value of a parameter of the query. */
  | { readonly kind: "query"; readonly name: string }
  /** User or password of `Authorization: Basic`. */
  | { readonly kind: "basic" }
  /** A text of a JSON object, named as `a.b`, or a field of a form. */
  | { readonly kind: "body"; readonly name: string }
  /** The key of an AWS signature (version 4), which is made anew with the real one. */
  | { readonly kind: "aws"; readonly accessKeyId: string }
  /** The key of a HMAC of the body, which is made anew with the real one and stands in a header. */
  | {
      readonly kind: "hmac";
      readonly name: string;
      readonly hash: "sha1" | "sha256" | "sha512";
      readonly prefix: string;
    };

/** A server, and the requests to it, that a secret is for. */
export interface SecretBinding {
  /** In its one form. */
  readonly host: string;
  readonly port: number;
  /** The path itself and what lies below it; every path for `/`. */
  readonly path: string;
  /** Every method when absent. */
  readonly methods?: readonly string[];
  readonly place: SecretPlace;
  /**
   * What the kernel itself puts into a header that the request does not have, with `{}` for the value; nothing is added
   * when absent.
   */
  readonly added?: string;
}

/** A secret as requests are made with it. */
export interface BrokeredSecret {
  /** Also the variable in which commands find the placeholder. */
  readonly name: string;
  readonly placeholder: string;
  /** Absent where it cannot be read now. */
  readonly value?: string;
  readonly bindings: readonly SecretBinding[];
}

/** How an agent writes a secret by its name. */
export function secretReference(name: string): string {
  return `{{secret:${name}}}`;
}

/** Names of secrets: those that variables may have. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
