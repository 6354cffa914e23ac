/** Formats of services for teams: planning, documents, design, customers, media. */
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** Rules for services that teams work with. */
export const SERVICE_RULES: readonly Rule[] = [
  tokens("linear-key", "a Linear key", ["lin_api_", "lin_oauth_", "lin_wh_"], "[A-Za-z0-9]{32,64}", ["lin_api_{a40}", "lin_oauth_{h64}"]),
  token("notion-token", "a Notion token", "ntn_", "[A-Za-z0-9]{40,50}", "{a46}"),
  token("notion-legacy-token", "an old Notion token", "secret_", "[A-Za-z0-9]{43}(?![A-Za-z0-9_])", "{a43}", {
    left: "token",
    entropyMin: 4,
  }),
  token("airtable-token", "an Airtable token", "pat", "[A-Za-z0-9]{14}\\.[0-9a-f]{64}", "{a14}.{h64}", { left: "token" }),
  tokens("atlassian-token", "an Atlassian token", ["ATATT3", "ATCTT3", "ATOA3", "ATSTT3"], "[A-Za-z0-9_=-]{60,255}", [
    "ATATT3xFfGF0{u180}",
  ]),
  {
    id: "asana-token",
    kind: "definite",
    title: "an Asana personal access token",
    keywords: ["0/", "1/", "2/"],
    expression: "(?<![A-Za-z0-9/.])[012]/(\\d{12,17}/\\d{12,17}:[0-9a-f]{32}|\\d{12,17}:[0-9a-f]{32})(?![A-Za-z0-9])",
    examples: { positive: ["asana 2/{d16}/{d16}:{h32}", "'1/{d16}:{h32}'"], negative: ["1/2", "0/1234567890123456"] },
  },
  tokens("figma-token", "a Figma token", ["figd_", "figu_", "figo_"], "[A-Za-z0-9_-]{40,60}", ["figd_{u40}"]),
  token("postman-key", "a Postman key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}", "{h24}-{h34}"),
  token("postman-collection-key", "a Postman collection key", "PMAT-", "[A-Z0-9]{26}", "{U26}"),
  token("contentful-token", "a Contentful token", "CFPAT-", "[A-Za-z0-9_-]{43}", "{u43}"),
  tokens("dropbox-token", "a Dropbox token", ["sl.u.", "sl."], "[A-Za-z0-9_-]{100,1400}", ["sl.u.{u200}", "sl.{u136}"], { left: "token" }),
  token("typeform-token", "a Typeform token", "tfp_", "[A-Za-z0-9_.=-]{40,60}", "{a44}"),
  tokens("hubspot-token", "a HubSpot token", ["pat-na1-", "pat-na2-", "pat-eu1-"], "[0-9a-f]{8}-[0-9a-f-]{27}", ["pat-na1-{uuid}"]),
  token("salesforce-token", "a Salesforce session", "00D", "[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,120}", "{a12}!{a96}", { left: "token" }),
  token("clickup-token", "a ClickUp token", "pk_", "\\d{6,9}_[A-Z0-9]{32}(?![A-Za-z0-9])", "{d8}_{U32}", { left: "token" }),
  token("trello-token", "a Trello token", "ATTA", "[0-9a-f]{56,72}(?![A-Za-z0-9])", "{h64}"),
  token("twitter-bearer", "a Twitter bearer token", "AAAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{60,140}(?![A-Za-z0-9%+/=])", "M{a80}", {
    entropyMin: 3.2,
    left: "token",
    check: (secret) => (/^A{20,23}[B-Z]/.test(secret) && !/A{6}/.test(secret.slice(24)) ? "probable" : undefined),
  }),
  tokens("facebook-token", "a Facebook access token", ["EAA"], "[A-Za-z0-9]{80,250}(?![A-Za-z0-9+/=])", ["EAAB{a160}"], {
    left: "token",
    entropyMin: 4.5,
    kind: "probable",
  }),
  token("instagram-token", "an Instagram token", "IGQV", "[A-Za-z0-9_-]{80,250}", "{u160}", { entropyMin: 4, left: "token" }),
  token("adobe-secret", "an Adobe client secret", "p8e-", "[A-Za-z0-9]{32}(?![A-Za-z0-9])", "{a32}"),
  token("settlemint-token", "a SettleMint token", "sm_pat_", "[A-Za-z0-9]{16}", "{a16}"),
  tokens("settlemint-app-token", "a SettleMint application token", ["sm_aat_", "sm_sat_"], "[A-Za-z0-9]{16}", ["sm_aat_{a16}"]),
  token("defined-networking-key", "a Defined Networking key", "dnkey-", "[A-Za-z0-9_=-]{26}-[A-Za-z0-9_=-]{52}", "{u26}-{u52}"),
  tokens("cal-key", "a Cal.com key", ["cal_live_"], "[0-9a-f]{32}", ["cal_live_{h32}"]),
  token("webflow-token", "a Webflow token", "ws-", "[0-9a-f]{64}(?![A-Za-z0-9])", "{h64}", { left: "token" }),
  token("intra42-secret", "an Intra42 secret", "s-s4t2", "(?:ud|af)-[0-9a-f]{64}", "ud-{h64}"),
  token("intercom-token", "an Intercom token", "dG9rO", "[A-Za-z0-9+/]{50,58}={0,2}(?![A-Za-z0-9])", "{b55}=", { left: "token" }),
  token("ngrok-key", "an ngrok API key", "ngrok_api_", "[A-Za-z0-9_]{40,60}", "{a48}", { left: "any" }),
  {
    id: "maxmind-key",
    kind: "definite",
    title: "a MaxMind licence key",
    keywords: ["_mmk"],
    offset: 36,
    expression: "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])",
    examples: { positive: ["{a6}_{a29}_mmk", "LICENSE={a6}_{a29}_mmk"], negative: ["_mmk", "ends with _mmk"] },
  },
  token("adafruit-key", "an Adafruit IO key", "aio_", "[A-Za-z0-9]{28}(?![A-Za-z0-9])", "{a28}"),
];
