/**
 * Finds placeholders and names of secrets in texts, all of them in one pass. Pure.
 *
 * INVARIANT: time in proportion to the text, however many secrets there are and whatever an agent writes.
 */
import { type BrokeredSecret, secretReference } from "../../../model/reach/secrets.ts";
import { escapeExpression } from "../../../text/escaped-expression.ts";
import { decodedRun, NUMBERED_RUN } from "../../../text/numbered-runs.ts";

/** Looks for the placeholders and names of some secrets. */
export class Placeholders {
  readonly #pattern: RegExp | undefined;
  readonly #secrets = new Map<string, BrokeredSecret>();

  constructor(secrets: readonly BrokeredSecret[]) {
    for (const secret of secrets) {
      this.#secrets.set(secret.placeholder, secret);
      this.#secrets.set(secretReference(secret.name), secret);
    }
    const forms = [...this.#secrets.keys()].sort((left, right) => right.length - left.length);
    if (forms.length > 0) this.#pattern = new RegExp(forms.map(escapeExpression).join("|"), "g");
  }

  /** The secrets whose placeholder or name stands in `text`, each as often as it does. */
  in(text: string): readonly BrokeredSecret[] {
    if (this.#pattern === undefined) return [];
    return [...text.matchAll(this.#pattern)].flatMap(([form]) => this.#secrets.get(form) ?? []);
  }

  /** Characters of the longest of them. */
  get longest(): number {
    return Math.max(0, ...[...this.#secrets.keys()].map((form) => form.length));
  }
}

/** `text` with the value of `secret` in place of its placeholder or name. */
export function replaced(text: string, { name, placeholder }: BrokeredSecret, value: string): string {
  return [placeholder, secretReference(name)].reduce((changed, form) => changed.split(form).join(value), text);
}

/** As a server decodes an address or a form; what is no proper escape stands as it is. */
export function decoded(text: string): string {
  if (!/[%+]/.test(text)) return text;
  return text.replaceAll("+", " ").replaceAll(NUMBERED_RUN, decodedRun);
}
