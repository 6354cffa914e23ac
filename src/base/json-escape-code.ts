// Generated from json-escape.wat by scripts/wat.mjs; do not edit.

/** The escaping of text as a WebAssembly module, in base64. */
export const JSON_ESCAPE_CODE =
  "AGFzbQEAAAABBgFgAX8BfwMCAQAFBAEBAgIHEwIGbWVtb3J5AgAGZXNjYXBlAAAKugEBtwECA38BewNAIAIgAf0ABIAQIgT9CwSAoAJBgIAEIAT9DCAgICAg" +
  "ICAgICAgICAgICD9JiAE/QwiIiIiIiIiIiIiIiIiIiIi/SP9UCAE/QxcXFxcXFxcXFxcXFxcXFxc/SP9UP1kcmghAyABIANqIQEgAiADaiECIANBEEkEQCAB" +
  "LQCAEEEDdCEDIAIgAykDADcDgKACIAIgAy0AB2ohAiABQQFqIQELIAEgAEkNAAsgAiABIABraws=";
