/** Formats of payment services, shops and banks. */
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** Names of tests begin as these keys do, and are long, but have no digits between their letters. */
const probableIfMixed = (secret: string) => (/\d[A-Za-z]{1,12}\d/.test(secret.slice(5)) ? "probable" : undefined);

/** Rules for payment services. */
export const PAYMENT_RULES: readonly Rule[] = [
  tokens(
    "stripe-key",
    "a Stripe secret key",
    ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"],
    "[A-Za-z0-9]{10,247}",
    ["sk_live_{a24}", "rk_test_{a99}"],
    { entropyMin: 2.5 },
  ),
  token("stripe-webhook-secret", "a Stripe webhook secret", "whsec_", "[A-Za-z0-9+/]{32,64}={0,2}", "{a32}"),
  tokens("square-token", "a Square access token", ["EAAA"], "[A-Za-z0-9_-]{60}(?![A-Za-z0-9_-])", ["EAAA{u60}"], { left: "token" }),
  tokens("square-secret", "a Square secret", ["sq0atp-", "sq0csp-", "sq0idp-"], "[A-Za-z0-9_-]{22,43}", ["sq0atp-{u22}", "sq0csp-{u43}"]),
  tokens(
    "paypal-token",
    "a PayPal or Braintree access token",
    ["access_token$production$", "access_token$sandbox$"],
    "[0-9a-z]{16}\\$[0-9a-f]{32}",
    ["access_token$production\x24{l16}\x24{h32}"],
  ),
  tokens(
    "plaid-token",
    "a Plaid token",
    ["access-sandbox-", "access-production-", "access-development-", "link-production-", "public-production-"],
    "[0-9a-f]{8}-[0-9a-f-]{27}",
    ["access-production-{uuid}"],
  ),
  tokens("shopify-token", "a Shopify token", ["shpat_", "shpss_", "shpca_", "shppa_", "shptka_", "shpua_"], "[0-9a-fA-F]{32}", [
    "shpat_{h32}",
    "shpss_{h32}",
  ]),
  token(
    "adyen-key",
    "an Adyen key",
    "AQE",
    "[A-Za-z0-9+/=]{6,20}-[A-Za-z0-9+/=]{20,100}-[A-Za-z0-9<>{}[\\]^;:.,~!@#$%&*()_+=|?]{8,40}",
    "{b12}-{b60}-{a16}",
    { left: "token" },
  ),
  tokens("razorpay-key", "a Razorpay key", ["rzp_live_", "rzp_test_"], "[A-Za-z0-9]{14}(?![A-Za-z0-9])", ["rzp_live_{a14}"]),
  tokens("flutterwave-key", "a Flutterwave key", ["FLWSECK_TEST-", "FLWSECK-"], "[0-9a-zA-Z]{12,40}(?:-X)?", [
    "FLWSECK-{h32}-X",
    "FLWSECK_TEST-{h32}-X",
  ]),
  tokens("mollie-key", "a Mollie key", ["live_", "test_"], "[A-Za-z0-9]{30}(?![A-Za-z0-9_])", ["live_{a30}"], {
    left: "token",
    entropyMin: 3.8,
    kind: "probable",
    check: probableIfMixed,
  }),
  tokens("paddle-key", "a Paddle key", ["pdl_live_apikey_", "pdl_sdbx_apikey_"], "[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}", [
    "pdl_live_apikey_{l26}_{a22}_{a3}",
  ]),
  tokens("xendit-key", "a Xendit key", ["xnd_production_", "xnd_development_"], "[A-Za-z0-9]{40,64}", ["xnd_production_{a54}"]),
  tokens("midtrans-key", "a Midtrans server key", ["Mid-server-", "SB-Mid-server-"], "[A-Za-z0-9_-]{24}", ["Mid-server-{a24}"]),
  token("mercury-token", "a Mercury token", "secret-token:mercury_", "[a-z]{2,12}_[A-Za-z0-9_]{20,80}", "production_{a40}"),
  tokens("duffel-token", "a Duffel token", ["duffel_live_", "duffel_test_"], "[A-Za-z0-9_=-]{43}", ["duffel_live_{u43}"]),
  tokens("easypost-key", "an EasyPost key", ["EZAK", "EZTK"], "[A-Za-z0-9]{54}(?![A-Za-z0-9])", ["EZAK{a54}"]),
  tokens("shippo-token", "a Shippo token", ["shippo_live_", "shippo_test_"], "[0-9a-fA-F]{40}", ["shippo_live_{h40}"]),
  tokens("lob-key", "a Lob key", ["live_pub_", "test_pub_"], "[0-9a-f]{31}(?![0-9A-Za-z])", ["live_pub_{h31}"], { kind: "probable" }),
  tokens("frame-io-token", "a Frame.io token", ["fio-u-"], "[A-Za-z0-9_=-]{64}", ["fio-u-{u64}"]),
  tokens(
    "coinbase-key",
    "a private key of Coinbase's trading interface",
    ["organizations/"],
    "[0-9a-f-]{36}/apiKeys/[0-9a-f-]{36}",
    ["organizations/{uuid}/apiKeys/{uuid}"],
    { kind: "probable" },
  ),
];
