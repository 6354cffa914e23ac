/** Formats of secret stores, identity providers and private networks. */
import { hasBech32Checksum } from "../kinds/checksum.ts";
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** Rules for secret stores and identity providers. */
export const IDENTITY_RULES: readonly Rule[] = [
  tokens("vault-token", "a HashiCorp Vault token", {
    prefixes: ["hvs.", "hvr."],
    body: "[A-Za-z0-9_-]{24,300}",
    samples: ["hvs.CAES{u90}", "hvs.{a24}"],
    entropyMin: 3.5,
  }),
  token("vault-batch-token", "a HashiCorp Vault batch token", {
    prefix: "hvb.",
    body: "[A-Za-z0-9_-]{90,400}",
    sample: "{u160}",
  }),
  tokens("vault-legacy-token", "an old HashiCorp Vault token", {
    prefixes: ["s.", "b."],
    body: "[A-Za-z0-9]{24}(?![A-Za-z0-9.(_-])",
    samples: ["s.{a24}"],
    left: "token",
    entropyMin: 4,
    kind: "probable",
    check: (secret) =>
      /\d/.test(secret) && /[A-Za-z]/.test(secret.slice(2)) && /\d[A-Za-z]{1,8}\d/.test(secret)
        ? "probable"
        : undefined,
  }),
  tokens("doppler-token", "a Doppler token", {
    prefixes: ["dp.pt.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.", "dp.said."],
    body: "[A-Za-z0-9]{40,44}",
    samples: ["dp.pt.{a43}", "dp.sa.{a40}"],
  }),
  token("doppler-service-token", "a Doppler service token", {
    prefix: "dp.st.",
    body: "(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}",
    sample: "dev.{a43}",
  }),
  token("onepassword-token", "a 1Password service account token", {
    prefix: "ops_eyJ",
    body: "[A-Za-z0-9+/_-]{100,1500}={0,2}",
    sample: "{b300}",
  }),
  token("onepassword-secret-key", "a 1Password secret key", {
    prefix: "A3-",
    body: "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    sample: "{U6}-{U6}-{U5}-{U5}-{U5}-{U5}",
    left: "token",
  }),
  tokens("infisical-token", "an Infisical token", {
    prefixes: ["st."],
    body: "[0-9a-f]{24}\\.[0-9a-f]{32}\\.[0-9a-f]{32}",
    samples: ["st.{h24}.{h32}.{h32}"],
    left: "token",
  }),
  tokens("tailscale-key", "a Tailscale key", {
    prefixes: ["tskey-"],
    body: "(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{6,24}-[A-Za-z0-9]{16,48}",
    samples: ["tskey-auth-{a17}-{a32}", "tskey-api-{a12}-{a32}"],
  }),
  token("okta-token", "an Okta token in a header", {
    prefix: "SSWS ",
    body: "[A-Za-z0-9_-]{40,44}",
    sample: "00{u40}",
  }),
  tokens("stytch-secret", "a Stytch secret", {
    prefixes: ["secret-live-", "secret-test-"],
    body: "[A-Za-z0-9_=-]{36}",
    samples: ["secret-live-{u36}"],
  }),
  tokens("supabase-token", "a Supabase token", {
    prefixes: ["sbp_"],
    body: "(?:oauth_|v0_)?[0-9a-f]{40}",
    samples: ["sbp_{h40}"],
  }),
  token("supabase-secret-key", "a Supabase secret key", {
    prefix: "sb_secret_",
    body: "[A-Za-z0-9_-]{31,40}",
    sample: "{u22}_{a8}",
  }),
  {
    id: "firebase-key",
    kind: "definite",
    title: "a Firebase messaging key",
    keywords: [":APA91b"], // its beginning, `AAAA`, stands in every picture
    expression: "AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{134}",
    offset: 11,
    left: "token",
    examples: { positive: ["key=AAAA{u7}:APA91b{u134}"], negative: ["AAAA", "AAAAbbbbbbb:APA91b"] },
  },
  token("age-key", "an age secret key", {
    prefix: "AGE-SECRET-KEY-1",
    body: "[A-Z0-9]{58}",
    sample: "{q58}",
    left: "any",
    check: (secret) => (hasBech32Checksum(secret) ? "definite" : "probable"),
  }),
  token("age-plugin-key", "a secret of an age plugin", {
    prefix: "AGE-PLUGIN-",
    body: "[A-Z0-9]{2,30}-1[A-Z0-9]{40,255}",
    sample: "YUBIKEY-1{q60}",
    left: "any",
  }),
  token("mapbox-token", "a secret Mapbox token", {
    prefix: "sk.eyJ",
    body: "[A-Za-z0-9_-]{60,200}\\.[A-Za-z0-9_-]{22}",
    sample: "1{u90}.{u22}",
  }),
  token("bitwarden-token", "a Bitwarden access token", {
    prefix: "0.",
    body: "[0-9a-f]{8}-[0-9a-f-]{27}\\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==",
    sample: "{uuid}.{a30}:{b22}==",
  }),
  tokens("wireguard-key", "a secret key of WireGuard", {
    prefixes: ["PrivateKey", "PresharedKey"],
    body: "\\s{0,3}=\\s{0,3}[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=",
    samples: ["PrivateKey = {b42}8=", "PresharedKey={b42}8="],
  }),
  token("otp-secret", "the secret of a one-time password", {
    prefix: "otpauth://",
    body: "[ht]otp/[^\\s?]{1,96}\\?[^\\s\"'<>]{0,48}secret=[A-Z2-7]{16,64}",
    sample: "totp/x:y?secret={t32}&issuer=x",
  }),
];
