/** Formats of code hosts, build services and code checkers. */
import { hasGithubChecksum, hasGitlabChecksum } from "../kinds/checksum.ts";
import { type Rule, type TokenOptions, token, tokens } from "../kinds/rule.ts";

/** GitHub's short tokens carry a checksum: without a right one the text only looks like a token. */
const CHECKED: TokenOptions = { check: (secret) => (hasGithubChecksum(secret.slice(4)) ? "definite" : "probable") };

const github = (id: string, title: string, prefix: string): Rule =>
  token(id, title, { prefix, body: "[A-Za-z0-9]{36,251}", sample: "{checked}", ...CHECKED });

const gitlab = (kind: string, prefix: string): Rule =>
  token(`gitlab-${kind}`, `a GitLab ${kind.replaceAll("-", " ")}`, {
    prefix,
    body: "[A-Za-z0-9_-]{20,300}(?:\\.[a-z0-9]{2}\\.[a-z0-9]{9}|\\.[a-z0-9]{9})?",
    sample: "{u20}",
    entropyMin: 3,
    check: (secret) => (/\.\w{9}$/.test(secret) && !hasGitlabChecksum(secret) ? "probable" : "definite"),
  });

/** Rules for code hosts and what builds and checks code. */
export const CODE_HOST_RULES: readonly Rule[] = [
  github("github-token", "a GitHub personal access token", "ghp_"),
  github("github-oauth-token", "a GitHub OAuth access token", "gho_"),
  github("github-user-token", "a GitHub user-to-server token", "ghu_"),
  github("github-server-token", "a GitHub server-to-server token", "ghs_"),
  github("github-refresh-token", "a GitHub refresh token", "ghr_"),
  token("github-app-token", "a GitHub installation token", {
    prefix: "ghs_",
    body: "(?:\\d{1,12}_)?eyJ[A-Za-z0-9_-]{20,300}\\.[A-Za-z0-9_-]{20,800}\\.[A-Za-z0-9_-]{20,700}",
    sample: "123456_eyJ{u60}.eyJ{u120}.{u86}",
  }),
  token("github-fine-grained-token", "a fine-grained GitHub token", {
    prefix: "github_pat_",
    body: "[A-Za-z0-9_]{36,255}",
    sample: "{a22}_{a59}",
  }),
  gitlab("access-token", "glpat-"),
  gitlab("deploy-token", "gldt-"),
  gitlab("runner-token", "glrt-"),
  gitlab("runner-login-token", "glrtr-"),
  gitlab("build-token", "glcbt-"),
  gitlab("trigger-token", "glptt-"),
  gitlab("feed-token", "glft-"),
  gitlab("mail-token", "glimt-"),
  gitlab("agent-token", "glagent-"),
  gitlab("oauth-secret", "gloas-"),
  gitlab("scim-token", "glsoat-"),
  gitlab("feature-flag-token", "glffct-"),
  token("gitlab-runner-registration", "a GitLab runner registration token", {
    prefix: "GR1348941",
    body: "[A-Za-z0-9_-]{20}",
    sample: "{u20}",
  }),
  token("gitlab-session", "a GitLab session cookie", {
    prefix: "_gitlab_session=",
    body: "[0-9a-z]{32}",
    sample: "{l32}",
    left: "any",
  }),
  token("bitbucket-app-password", "a Bitbucket app password", {
    prefix: "ATBB",
    body: "[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    sample: "{a32}",
  }),
  token("bitbucket-server-token", "a Bitbucket Data Center token", {
    prefix: "BBDC-",
    body: "[A-Za-z0-9+/@_-]{40,50}",
    sample: "{b44}",
  }),
  token("circleci-token", "a CircleCI token", {
    prefix: "CCIPAT_",
    body: "[A-Za-z0-9]{22}_[0-9a-f]{40}",
    sample: "{a22}_{h40}",
  }),
  tokens("buildkite-token", "a Buildkite token", {
    prefixes: ["bkua_", "bkaj_", "bkrt_"],
    body: "[0-9a-f]{40}",
    samples: ["bkua_{h40}"],
  }),
  tokens("sourcegraph-token", "a Sourcegraph token", {
    prefixes: ["sgp_", "sgd_", "sgs_", "slk_"],
    body: "(?:[0-9a-fA-F]{16}_|local_)?[0-9a-fA-F]{40,64}",
    samples: ["sgp_{h40}", "sgp_{h16}_{h40}"],
  }),
  tokens("sonar-token", "a SonarQube token", {
    prefixes: ["squ_", "sqp_", "sqa_"],
    body: "[0-9a-f]{40}",
    samples: ["squ_{h40}", "sqp_{h40}"],
  }),
  token("jetbrains-token", "a JetBrains permanent token", {
    prefix: "perm:",
    body: "[A-Za-z0-9+/=]{2,64}\\.[A-Za-z0-9+/=]{2,64}\\.[A-Za-z0-9+/=]{20,64}",
    sample: "{b16}.{b12}.{a40}",
  }),
  token("sourcehut-token", "a sourcehut token", {
    prefix: "srht.oauth-",
    body: "[A-Za-z0-9_-]{32,64}",
    sample: "{a40}",
  }),
  token("jenkins-crumb", "a Jenkins crumb", {
    prefix: "Jenkins-Crumb:",
    body: "\\s{0,3}[0-9a-f]{32,64}",
    sample: " {h64}",
    left: "any",
    kind: "probable",
  }),
  token("semgrep-token", "a Semgrep token", { prefix: "sgp_app_", body: "[0-9a-f]{40,64}", sample: "{h64}" }),
  token("coderabbit-key", "a CodeRabbit key", {
    prefix: "cr-",
    body: "[0-9a-f]{58}(?![0-9A-Za-z])",
    sample: "{h58}",
    left: "token",
  }),
  token("infracost-key", "an Infracost key", {
    prefix: "ico-",
    body: "[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    sample: "{a32}",
  }),
  tokens("harness-key", "a Harness key", {
    prefixes: ["pat.", "sat."],
    body: "[A-Za-z0-9_-]{22}\\.[A-Za-z0-9]{24}\\.[A-Za-z0-9]{20}",
    samples: ["pat.{a22}.{h24}.{a20}"],
    left: "token",
  }),
  token("octopus-key", "an Octopus Deploy key", {
    prefix: "API-",
    body: "[A-Z0-9]{25,32}(?![A-Za-z0-9_-])",
    sample: "{U26}",
    left: "token",
    entropyMin: 3.5,
  }),
  token("openshift-token", "an OpenShift user token", {
    prefix: "sha256~",
    body: "[A-Za-z0-9_-]{43}",
    sample: "{u43}",
  }),
];
