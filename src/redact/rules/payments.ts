/** Formats of payment services, shops and banks. */
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** Names of tests begin as these keys do, and are long, but have no digits between their letters. */
const probableIfMixed = (secret: string) => (/\d[A-Za-z]{1,12}\d/.test(secret.slice(5)) ? "probable" : undefined);

/** Rules for payment services. */
export const PAYMENT_RULES: readonly Rule[] = [
  tokens("stripe-key", "a Stripe secret key", {
    prefixes: ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"],
    body: "[A-Za-z0-9]{10,247}",
    samples: ["sk_live_{a24}", "rk_test_{a99}"],
    entropyMin: 2.5,
  }),
  token("stripe-webhook-secret", "a Stripe webhook secret", {
    prefix: "whsec_",
    body: "[A-Za-z0-9+/]{32,64}={0,2}",
    sample: "{a32}",
  }),
  tokens("square-token", "a Square access token", {
    prefixes: ["EAAA"],
    body: "[A-Za-z0-9_-]{60}(?![A-Za-z0-9_-])",
    samples: ["EAAA{u60}"],
    left: "token",
  }),
  tokens("square-secret", "a Square secret", {
    prefixes: ["sq0atp-", "sq0csp-", "sq0idp-"],
    body: "[A-Za-z0-9_-]{22,43}",
    samples: ["sq0atp-{u22}", "sq0csp-{u43}"],
  }),
  tokens("paypal-token", "a PayPal or Braintree access token", {
    prefixes: ["access_token$production$", "access_token$sandbox$"],
    body: "[0-9a-z]{16}\\$[0-9a-f]{32}",
    samples: ["access_token$production\x24{l16}\x24{h32}"],
  }),
  tokens("plaid-token", "a Plaid token", {
    prefixes: [
      "access-sandbox-",
      "access-production-",
      "access-development-",
      "link-production-",
      "public-production-",
    ],
    body: "[0-9a-f]{8}-[0-9a-f-]{27}",
    samples: ["access-production-{uuid}"],
  }),
  tokens("shopify-token", "a Shopify token", {
    prefixes: ["shpat_", "shpss_", "shpca_", "shppa_", "shptka_", "shpua_"],
    body: "[A-Za-z0-9]{32,38}(?![A-Za-z0-9])",
    samples: ["shpat_{h32}", "shpss_{a32}"],
    entropyMin: 2.8,
  }),
  token("adyen-key", "an Adyen key", {
    prefix: "AQE",
    body: "[A-Za-z0-9+/=]{6,20}-[A-Za-z0-9+/=]{20,100}-[A-Za-z0-9<>{}[\\]^;:.,~!@#$%&*()_+=|?]{8,40}",
    sample: "{b12}-{b60}-{a16}",
    left: "token",
  }),
  tokens("razorpay-key", "a Razorpay key", {
    prefixes: ["rzp_live_", "rzp_test_"],
    body: "[A-Za-z0-9]{14}(?![A-Za-z0-9])",
    samples: ["rzp_live_{a14}"],
  }),
  tokens("flutterwave-key", "a Flutterwave key", {
    prefixes: ["FLWSECK_TEST-", "FLWSECK-"],
    body: "[0-9a-zA-Z]{12,40}(?:(?:-[0-9a-z]{1,12})?-X)?",
    samples: ["FLWSECK-{h32}-X", "FLWSECK_TEST-{h32}-X"],
  }),
  tokens("mollie-key", "a Mollie key", {
    prefixes: ["live_", "test_"],
    body: "[A-Za-z0-9]{30}(?![A-Za-z0-9_])",
    samples: ["live_{a30}"],
    left: "token",
    entropyMin: 3.8,
    kind: "probable",
    check: probableIfMixed,
  }),
  tokens("paddle-key", "a Paddle key", {
    prefixes: ["pdl_live_apikey_", "pdl_sdbx_apikey_"],
    body: "[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}",
    samples: ["pdl_live_apikey_{l26}_{a22}_{a3}"],
  }),
  tokens("xendit-key", "a Xendit key", {
    prefixes: ["xnd_production_", "xnd_development_"],
    body: "[A-Za-z0-9]{40,64}",
    samples: ["xnd_production_{a54}"],
  }),
  tokens("midtrans-key", "a Midtrans server key", {
    prefixes: ["Mid-server-", "SB-Mid-server-"],
    body: "[A-Za-z0-9_-]{24}",
    samples: ["Mid-server-{a24}"],
  }),
  token("mercury-token", "a Mercury token", {
    prefix: "secret-token:mercury_",
    body: "[a-z]{2,12}_[A-Za-z0-9_]{20,80}",
    sample: "production_{a40}",
  }),
  tokens("duffel-token", "a Duffel token", {
    prefixes: ["duffel_live_", "duffel_test_"],
    body: "[A-Za-z0-9_=-]{43}",
    samples: ["duffel_live_{u43}"],
  }),
  tokens("easypost-key", "an EasyPost key", {
    prefixes: ["EZAK", "EZTK"],
    body: "[A-Za-z0-9]{54}(?![A-Za-z0-9])",
    samples: ["EZAK{a54}"],
  }),
  tokens("shippo-token", "a Shippo token", {
    prefixes: ["shippo_live_", "shippo_test_"],
    body: "[0-9a-fA-F]{40}",
    samples: ["shippo_live_{h40}"],
  }),
  tokens("lob-key", "a Lob key", {
    prefixes: ["live_pub_", "test_pub_"],
    body: "[0-9a-f]{31}(?![0-9A-Za-z])",
    samples: ["live_pub_{h31}"],
    kind: "probable",
  }),
  tokens("frame-io-token", "a Frame.io token", {
    prefixes: ["fio-u-"],
    body: "[A-Za-z0-9_=-]{64}",
    samples: ["fio-u-{u64}"],
  }),
  tokens("coinbase-key", "a private key of Coinbase's trading interface", {
    prefixes: ["organizations/"],
    body: "[0-9a-f-]{36}/apiKeys/[0-9a-f-]{36}",
    samples: ["organizations/{uuid}/apiKeys/{uuid}"],
    kind: "probable",
  }),
];
