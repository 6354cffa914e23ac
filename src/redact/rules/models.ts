/** Formats of services that run models, and of what is built around them. */
import { type Rule, token, tokens } from "../kinds/rule.ts";

const MIXED = (secret: string) =>
  /\d/.test(secret.slice(3)) && /[A-Za-z]/.test(secret.slice(3)) ? "definite" : "probable";

/** Rules for model providers. */
export const MODEL_RULES: readonly Rule[] = [
  token("anthropic-key", "an Anthropic key", {
    prefix: "sk-ant-",
    body: "[a-z0-9]{3,8}-[A-Za-z0-9_-]{24,200}",
    sample: "api03-{u93}AA",
  }),
  tokens("openai-key", "an OpenAI key", {
    prefixes: ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"],
    body: "[A-Za-z0-9_-]{20,255}",
    samples: ["sk-proj-{u74}T3BlbkFJ{u74}", "sk-admin-{a48}"],
  }),
  token("openai-user-key", "a key that begins as OpenAI's do", {
    prefix: "sk-",
    body: "[A-Za-z0-9]{20,128}(?![A-Za-z0-9_-])",
    sample: "{a20}T3BlbkFJ{a20}",
    left: "token",
    check: (secret) => (secret.includes("T3BlbkFJ") || secret.length >= 35 ? MIXED(secret) : "probable"),
  }),
  token("openrouter-key", "an OpenRouter key", { prefix: "sk-or-v1-", body: "[0-9a-f]{64}", sample: "{h64}" }),
  tokens("langfuse-key", "a Langfuse key", {
    prefixes: ["sk-lf-"],
    body: "[0-9a-f]{8}-[0-9a-f-]{27}",
    samples: ["sk-lf-{uuid}"],
  }),
  tokens("helicone-key", "a Helicone key", {
    prefixes: ["sk-helicone-"],
    body: "[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}",
    samples: ["sk-helicone-{l7}-{l7}-{l7}-{l7}"],
  }),
  tokens("huggingface-token", "a Hugging Face token", {
    prefixes: ["hf_", "api_org_"],
    body: "[A-Za-z0-9]{34,40}(?![A-Za-z0-9_-])",
    samples: ["hf_{a34}"],
    left: "token",
    entropyMin: 3.2,
  }),
  token("huggingface-oauth-token", "a Hugging Face OAuth token", {
    prefix: "hf_oauth_",
    body: "[A-Za-z0-9_.-]{40,1000}",
    sample: "{u80}",
  }),
  token("replicate-token", "a Replicate token", {
    prefix: "r8_",
    body: "[A-Za-z0-9]{37}(?![A-Za-z0-9])",
    sample: "{a37}",
    left: "token",
  }),
  token("groq-key", "a Groq key", { prefix: "gsk_", body: "[A-Za-z0-9]{48,56}", sample: "{a52}" }),
  token("perplexity-key", "a Perplexity key", { prefix: "pplx-", body: "[A-Za-z0-9]{40,60}", sample: "{a48}" }),
  token("xai-key", "an xAI key", { prefix: "xai-", body: "[A-Za-z0-9]{70,90}", sample: "{a80}" }),
  token("fireworks-key", "a Fireworks key", {
    prefix: "fw_",
    body: "[A-Za-z0-9]{20,26}(?![A-Za-z0-9_])",
    sample: "{a22}",
    left: "token",
    entropyMin: 3.6,
    kind: "probable",
  }),
  token("together-key", "a Together key", { prefix: "tgp_v1_", body: "[A-Za-z0-9_-]{43}", sample: "{u43}" }),
  token("pinecone-key", "a Pinecone key", {
    prefix: "pcsk_",
    body: "[A-Za-z0-9]{5,8}_[A-Za-z0-9]{50,70}",
    sample: "{a6}_{a63}",
  }),
  tokens("langsmith-key", "a LangSmith key", {
    prefixes: ["lsv2_pt_", "lsv2_sk_", "ls__"],
    body: "[0-9a-f]{32}(?:_[0-9a-f]{10})?",
    samples: ["lsv2_pt_{h32}_{h10}", "ls__{h32}"],
  }),
  token("elevenlabs-key", "an ElevenLabs key", {
    prefix: "sk_",
    body: "[0-9a-f]{48}(?![A-Za-z0-9_])",
    sample: "{h48}",
    left: "token",
  }),
  token("voyage-key", "a Voyage key", {
    prefix: "pa-",
    body: "[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
    sample: "{u43}",
    left: "token",
    entropyMin: 4.2,
  }),
  token("jina-key", "a Jina key", { prefix: "jina_", body: "[0-9a-f]{32}[A-Za-z0-9_-]{20,40}", sample: "{h32}{u28}" }),
  tokens("tavily-key", "a Tavily key", {
    prefixes: ["tvly-"],
    body: "(?:dev-|prod-)?[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    samples: ["tvly-{a32}", "tvly-dev-{a32}"],
  }),
  token("firecrawl-key", "a Firecrawl key", {
    prefix: "fc-",
    body: "[0-9a-f]{32}(?![A-Za-z0-9])",
    sample: "{h32}",
    left: "token",
  }),
  token("cerebras-key", "a Cerebras key", { prefix: "csk-", body: "[a-z0-9]{48}(?![A-Za-z0-9])", sample: "{l48}" }),
  token("nvidia-key", "an NVIDIA key", { prefix: "nvapi-", body: "[A-Za-z0-9_-]{60,70}", sample: "{u64}" }),
  token("nomic-key", "a Nomic key", {
    prefix: "nk-",
    body: "[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
    sample: "{u43}",
    left: "token",
    entropyMin: 4.2,
  }),
  token("e2b-key", "an E2B key", { prefix: "e2b_", body: "[0-9a-f]{40}", sample: "{h40}" }),
  token("runpod-key", "a RunPod key", { prefix: "rpa_", body: "[A-Z0-9]{30,50}", sample: "{U44}" }),
  tokens("modal-token", "a Modal token", {
    prefixes: ["ak-", "as-"],
    body: "[A-Za-z0-9]{22}(?![A-Za-z0-9-])",
    samples: ["as-{a22}"],
    left: "token",
    entropyMin: 4,
    kind: "probable",
  }),
  token("apify-token", "an Apify token", { prefix: "apify_api_", body: "[A-Za-z0-9]{34,40}", sample: "{a36}" }),
  token("wandb-key", "a Weights & Biases key", { prefix: "wandb_v1_", body: "[A-Za-z0-9_]{40,90}", sample: "{a77}" }),
  token("llamacloud-key", "a LlamaIndex cloud key", {
    prefix: "llx-",
    body: "[A-Za-z0-9]{48}(?![A-Za-z0-9])",
    sample: "{a48}",
  }),
];
