/** Formats of services that watch, measure and release software. */
import { hasGrafanaChecksum } from "../kinds/checksum.ts";
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** Rules for monitoring, logging and release services. */
export const OBSERVABILITY_RULES: readonly Rule[] = [
  tokens("new-relic-key", "a New Relic key", {
    prefixes: ["NRAK-", "NRJS-", "NRII-", "NRIQ-", "NRRA-", "NRSP-"],
    body: "[A-Za-z0-9_-]{19,42}",
    samples: ["NRAK-{U27}", "NRII-{u32}"],
    left: "token",
  }),
  {
    id: "new-relic-licence-key",
    kind: "definite",
    title: "a New Relic licence key",
    keywords: ["FFFFNRAL"],
    offset: 32,
    expression: "[0-9a-f]{32}FFFFNRAL(?![A-Za-z0-9])",
    examples: { positive: ["licence {h32}FFFFNRAL"], negative: ["keys end with FFFFNRAL"] },
  },
  tokens("sentry-token", "a Sentry token", {
    prefixes: ["sntrys_", "sntryu_", "sntryi_"],
    body: "[A-Za-z0-9+/=_-]{40,500}",
    samples: ["sntrys_{b120}", "sntryu_{h64}"],
  }),
  tokens("grafana-token", "a Grafana token", {
    prefixes: ["glc_", "glsa_"],
    body: "[A-Za-z0-9+/_-]{32,400}={0,3}",
    samples: ["glc_{b120}", "glsa_{a32}_{h8}"],
    entropyMin: 3.5,
    check: (secret) =>
      /^glsa_\w{32}_[0-9a-f]{8}$/.test(secret) && !hasGrafanaChecksum(secret) ? "probable" : "definite",
  }),
  tokens("grafana-key", "a Grafana key", {
    prefixes: ["eyJrIjoi"],
    body: "[A-Za-z0-9]{40,400}={0,3}",
    samples: ["eyJrIjoi{a80}"],
  }),
  tokens("honeycomb-key", "a Honeycomb key", {
    prefixes: ["hcaik_", "hcamk_", "hcxik_", "hcxlk_", "hcalk_"],
    body: "[A-Za-z0-9_]{28,64}",
    samples: ["hcaik_{l58}"],
  }),
  token("dynatrace-token", "a Dynatrace token", {
    prefix: "dt0c01.",
    body: "[A-Za-z0-9]{24}\\.[A-Za-z0-9]{64}",
    sample: "{U24}.{U64}",
  }),
  tokens("dynatrace-platform-token", "a Dynatrace platform token", {
    prefixes: ["dt0s01.", "dt0s16.", "dt0s02."],
    body: "[A-Z0-9]{8,24}\\.[A-Z0-9]{64}",
    samples: ["dt0s16.{U8}.{U64}"],
  }),
  tokens("elastic-token", "an Elastic token", {
    prefixes: ["essu_"],
    body: "[A-Za-z0-9+/=_-]{40,200}",
    samples: ["essu_{b80}"],
  }),
  token("axiom-token", "an Axiom token", { prefix: "xaat-", body: "[0-9a-f]{8}-[0-9a-f-]{27}", sample: "{uuid}" }),
  token("axiom-personal-token", "an Axiom personal token", {
    prefix: "xapt-",
    body: "[0-9a-f]{8}-[0-9a-f-]{27}",
    sample: "{uuid}",
  }),
  tokens("launchdarkly-key", "a LaunchDarkly key", {
    prefixes: ["sdk-", "api-", "mob-"],
    body: "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}",
    samples: ["sdk-{uuid}", "api-{uuid}"],
    left: "token",
    kind: "probable",
  }),
  token("posthog-key", "a PostHog personal key", { prefix: "phx_", body: "[A-Za-z0-9_]{40,60}", sample: "{a43}" }),
  token("statsig-key", "a Statsig server key", {
    prefix: "secret-",
    body: "[A-Za-z0-9]{40,48}(?![A-Za-z0-9])",
    sample: "{a44}",
    left: "token",
    entropyMin: 4,
  }),
  token("pagerduty-token", "a PagerDuty token", {
    prefix: "pdus+",
    body: "[A-Za-z0-9_+-]{20,60}",
    sample: "{a40}",
    left: "token",
  }),
  token("readme-key", "a ReadMe key", { prefix: "rdme_", body: "[a-z0-9]{70}", sample: "{l70}" }),
  token("unleash-token", "an Unleash token", {
    prefix: "default:development.",
    body: "[0-9a-f]{56,64}",
    sample: "{h56}",
    left: "any",
  }),
  token("splunk-collector-token", "a Splunk collector token in a header", {
    prefix: "Splunk ",
    body: "[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}",
    sample: "{uuid}",
  }),
  token("checkly-key", "a Checkly key", {
    prefix: "cu_",
    body: "[0-9a-f]{32}(?![A-Za-z0-9])",
    sample: "{h32}",
    left: "token",
    kind: "probable",
  }),
];
