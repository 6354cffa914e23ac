// Generated from json-escape.wat by scripts/wat.mjs; do not edit.

/** The escaping of text as a WebAssembly module, in base64. */
export const JSON_ESCAPE_CODE =
  "AGFzbQEAAAABBgFgAX8BfwMCAQAFBAEBAgIHEAIGbWVtb3J5AgADcnVuAAAKugEBtwECA38BewNAIAIgAf0ABIAQIgT9CwSAoAJBgIAEIAT9DCAgICAgICAg" +
  "ICAgICAgICD9JiAE/QwiIiIiIiIiIiIiIiIiIiIi/SP9UCAE/QxcXFxcXFxcXFxcXFxcXFxc/SP9UP1kcmghAyABIANqIQEgAiADaiECIANBEEkEQCABLQCA" +
  "EEEDdCEDIAIgAykDADcDgKACIAIgAy0AB2ohAiABQQFqIQELIAEgAEkNAAsgAiABIABraws=";
