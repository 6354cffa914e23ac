/** Formats of services that run models, and of what is built around them. */
import { type Rule, token, tokens } from "../kinds/rule.ts";

const MIXED = (secret: string) => (/\d/.test(secret.slice(3)) && /[A-Za-z]/.test(secret.slice(3)) ? "definite" : "probable");

/** Rules for model providers. */
export const MODEL_RULES: readonly Rule[] = [
  token("anthropic-key", "an Anthropic key", "sk-ant-", "[a-z0-9]{3,8}-[A-Za-z0-9_-]{24,200}", "api03-{u93}AA"),
  tokens("openai-key", "an OpenAI key", ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], "[A-Za-z0-9_-]{20,255}", [
    "sk-proj-{u74}T3BlbkFJ{u74}",
    "sk-admin-{a48}",
  ]),
  token("openai-user-key", "a key that begins as OpenAI's do", "sk-", "[A-Za-z0-9]{20,128}(?![A-Za-z0-9_-])", "{a20}T3BlbkFJ{a20}", {
    left: "token",
    check: (secret) => (secret.includes("T3BlbkFJ") || secret.length >= 35 ? MIXED(secret) : "probable"),
  }),
  token("openrouter-key", "an OpenRouter key", "sk-or-v1-", "[0-9a-f]{64}", "{h64}"),
  tokens("langfuse-key", "a Langfuse key", ["sk-lf-"], "[0-9a-f]{8}-[0-9a-f-]{27}", ["sk-lf-{uuid}"]),
  tokens("helicone-key", "a Helicone key", ["sk-helicone-"], "[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}", [
    "sk-helicone-{l7}-{l7}-{l7}-{l7}",
  ]),
  tokens("huggingface-token", "a Hugging Face token", ["hf_", "api_org_"], "[A-Za-z0-9]{34,40}(?![A-Za-z0-9_-])", ["hf_{a34}"], {
    left: "token",
    entropyMin: 3.2,
  }),
  token("huggingface-oauth-token", "a Hugging Face OAuth token", "hf_oauth_", "[A-Za-z0-9_.-]{40,1000}", "{u80}"),
  token("replicate-token", "a Replicate token", "r8_", "[A-Za-z0-9]{37}(?![A-Za-z0-9])", "{a37}", { left: "token" }),
  token("groq-key", "a Groq key", "gsk_", "[A-Za-z0-9]{48,56}", "{a52}"),
  token("perplexity-key", "a Perplexity key", "pplx-", "[A-Za-z0-9]{40,60}", "{a48}"),
  token("xai-key", "an xAI key", "xai-", "[A-Za-z0-9]{70,90}", "{a80}"),
  token("fireworks-key", "a Fireworks key", "fw_", "[A-Za-z0-9]{20,26}(?![A-Za-z0-9_])", "{a22}", {
    left: "token",
    entropyMin: 3.6,
    kind: "probable",
  }),
  token("together-key", "a Together key", "tgp_v1_", "[A-Za-z0-9_-]{43}", "{u43}"),
  token("pinecone-key", "a Pinecone key", "pcsk_", "[A-Za-z0-9]{5,8}_[A-Za-z0-9]{50,70}", "{a6}_{a63}"),
  tokens("langsmith-key", "a LangSmith key", ["lsv2_pt_", "lsv2_sk_", "ls__"], "[0-9a-f]{32}(?:_[0-9a-f]{10})?", [
    "lsv2_pt_{h32}_{h10}",
    "ls__{h32}",
  ]),
  token("elevenlabs-key", "an ElevenLabs key", "sk_", "[0-9a-f]{48}(?![A-Za-z0-9_])", "{h48}", { left: "token" }),
  token("voyage-key", "a Voyage key", "pa-", "[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])", "{u43}", { left: "token", entropyMin: 4.2 }),
  token("jina-key", "a Jina key", "jina_", "[0-9a-f]{32}[A-Za-z0-9_-]{20,40}", "{h32}{u28}"),
  tokens("tavily-key", "a Tavily key", ["tvly-"], "(?:dev-|prod-)?[A-Za-z0-9]{32}(?![A-Za-z0-9])", ["tvly-{a32}", "tvly-dev-{a32}"]),
  token("firecrawl-key", "a Firecrawl key", "fc-", "[0-9a-f]{32}(?![A-Za-z0-9])", "{h32}", { left: "token" }),
  token("cerebras-key", "a Cerebras key", "csk-", "[a-z0-9]{48}(?![A-Za-z0-9])", "{l48}"),
  token("nvidia-key", "an NVIDIA key", "nvapi-", "[A-Za-z0-9_-]{60,70}", "{u64}"),
  token("nomic-key", "a Nomic key", "nk-", "[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])", "{u43}", { left: "token", entropyMin: 4.2 }),
  token("e2b-key", "an E2B key", "e2b_", "[0-9a-f]{40}", "{h40}"),
  token("runpod-key", "a RunPod key", "rpa_", "[A-Z0-9]{30,50}", "{U44}"),
  tokens("modal-token", "a Modal token", ["ak-", "as-"], "[A-Za-z0-9]{22}(?![A-Za-z0-9-])", ["as-{a22}"], {
    left: "token",
    entropyMin: 4,
    kind: "probable",
  }),
  token("apify-token", "an Apify token", "apify_api_", "[A-Za-z0-9]{34,40}", "{a36}"),
  token("wandb-key", "a Weights & Biases key", "wandb_v1_", "[A-Za-z0-9_]{40,90}", "{a77}"),
  token("llamacloud-key", "a LlamaIndex cloud key", "llx-", "[A-Za-z0-9]{48}(?![A-Za-z0-9])", "{a48}"),
];
