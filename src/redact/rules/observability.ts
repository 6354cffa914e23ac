/** Formats of services that watch, measure and release software. */
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** Rules for monitoring, logging and release services. */
export const OBSERVABILITY_RULES: readonly Rule[] = [
  tokens(
    "new-relic-key",
    "a New Relic key",
    ["NRAK-", "NRJS-", "NRII-", "NRIQ-", "NRRA-", "NRSP-"],
    "[A-Za-z0-9_-]{19,42}",
    ["NRAK-{U27}", "NRII-{u32}"],
    { left: "token" },
  ),
  {
    id: "new-relic-licence-key",
    kind: "definite",
    title: "a New Relic licence key",
    keywords: ["FFFFNRAL"],
    offset: 32,
    expression: "[0-9a-f]{32}FFFFNRAL(?![A-Za-z0-9])",
    examples: { positive: ["licence {h32}FFFFNRAL"], negative: ["keys end with FFFFNRAL"] },
  },
  tokens("sentry-token", "a Sentry token", ["sntrys_", "sntryu_", "sntryi_"], "[A-Za-z0-9+/=_-]{40,500}", [
    "sntrys_{b120}",
    "sntryu_{h64}",
  ]),
  tokens("grafana-token", "a Grafana token", ["glc_", "glsa_"], "[A-Za-z0-9+/_-]{32,400}={0,3}", ["glc_{b120}", "glsa_{a32}_{h8}"], {
    entropyMin: 3.5,
  }),
  tokens("grafana-key", "a Grafana key", ["eyJrIjoi"], "[A-Za-z0-9]{40,400}={0,3}", ["eyJrIjoi{a80}"]),
  tokens("honeycomb-key", "a Honeycomb key", ["hcaik_", "hcamk_", "hcxik_", "hcxlk_", "hcalk_"], "[A-Za-z0-9_]{28,64}", ["hcaik_{l58}"]),
  token("dynatrace-token", "a Dynatrace token", "dt0c01.", "[A-Za-z0-9]{24}\\.[A-Za-z0-9]{64}", "{U24}.{U64}"),
  tokens("dynatrace-platform-token", "a Dynatrace platform token", ["dt0s01.", "dt0s16.", "dt0s02."], "[A-Z0-9]{8,24}\\.[A-Z0-9]{64}", [
    "dt0s16.{U8}.{U64}",
  ]),
  tokens("elastic-token", "an Elastic token", ["essu_"], "[A-Za-z0-9+/=_-]{40,200}", ["essu_{b80}"]),
  token("axiom-token", "an Axiom token", "xaat-", "[0-9a-f]{8}-[0-9a-f-]{27}", "{uuid}"),
  token("axiom-personal-token", "an Axiom personal token", "xapt-", "[0-9a-f]{8}-[0-9a-f-]{27}", "{uuid}"),
  tokens(
    "launchdarkly-key",
    "a LaunchDarkly key",
    ["sdk-", "api-", "mob-"],
    "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}",
    ["sdk-{uuid}", "api-{uuid}"],
    { left: "token", kind: "probable" },
  ),
  token("posthog-key", "a PostHog personal key", "phx_", "[A-Za-z0-9_]{40,60}", "{a43}"),
  token("statsig-key", "a Statsig server key", "secret-", "[A-Za-z0-9]{40,48}(?![A-Za-z0-9])", "{a44}", { left: "token", entropyMin: 4 }),
  token("pagerduty-token", "a PagerDuty token", "pdus+", "[A-Za-z0-9_+-]{20,60}", "{a40}", { left: "token" }),
  token("readme-key", "a ReadMe key", "rdme_", "[a-z0-9]{70}", "{l70}"),
  token("unleash-token", "an Unleash token", "default:development.", "[0-9a-f]{56,64}", "{h56}", { left: "any" }),
  token("splunk-collector-token", "a Splunk collector token in a header", "Splunk ", "[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}", "{uuid}"),
  token("checkly-key", "a Checkly key", "cu_", "[0-9a-f]{32}(?![A-Za-z0-9])", "{h32}", { left: "token", kind: "probable" }),
];
