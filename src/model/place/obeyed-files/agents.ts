/** Files that coding agents obey: instructions, permissions, hooks and servers that they start. */
import { obeyedFiles } from "./obeyed-file.ts";

/** Agents' own files. */
export const AGENT_FILES = obeyedFiles({
  "https://docs.claude.com/en/docs/claude-code/memory": {
    "CLAUDE.md CLAUDE.local.md": "Claude Code reads it as instructions in every session",
  },
  "https://docs.claude.com/en/docs/claude-code/settings": {
    ".claude .claude.json .claude-plugin":
      "Claude Code takes permissions, hooks, commands, skills and plugins from it, and runs the hooks",
  },
  "https://docs.claude.com/en/docs/claude-code/mcp": {
    ".mcp.json mcp.json .mcp": "agents and editors start the servers that it names",
  },
  "https://agents.md": {
    "AGENTS.md AGENTS.override.md AGENT.md": "most coding agents read it as instructions in every session",
  },
  "https://agentskills.io/specification": { ".agents .agent": "agents take skills, rules and workflows from it" },
  "https://developers.openai.com/codex/config-reference": {
    ".codex": "Codex takes its configuration, servers, rules and notification programs from it",
  },
  "https://geminicli.com/docs/cli/gemini-md": { "GEMINI.md": "Gemini CLI reads it as instructions in every session" },
  "https://geminicli.com/docs/reference/configuration": {
    ".gemini":
      "Gemini CLI takes settings, servers, hooks and extensions from it, and Gemini Code Assist how it reviews",
  },
  "https://geminicli.com/docs/cli/gemini-ignore": {
    ".geminiignore .aiexclude": "it decides which files Gemini may read and send to its model",
  },
  "https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings": {
    "QWEN.md .qwen .qwenignore": "Qwen Code reads it as instructions, and starts the servers that its settings name",
  },
  "https://cursor.com/docs/context/rules": {
    ".cursorrules .cursor": "Cursor reads it as instructions, and runs the hooks and servers that it names",
  },
  "https://cursor.com/docs/context/ignore-files": {
    ".cursorignore .cursorindexingignore": "it decides which files Cursor may read and send to its model",
  },
  "https://docs.windsurf.com/windsurf/cascade/memories": {
    ".windsurfrules .windsurf .codeium .codeiumignore": "Windsurf reads it as instructions, workflows and hooks",
  },
  "https://kiro.dev/docs/steering": { ".kiro": "Kiro takes steering, hooks and servers from it, and runs the hooks" },
  "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/context-project-rules.html": {
    ".amazonq": "Amazon Q Developer takes rules, agents and servers from it",
  },
  "https://docs.continue.dev/customize/deep-dives/rules": {
    ".continue .continuerules .continuerc.json .continueignore":
      "Continue reads it as rules, models and servers to start",
  },
  "https://docs.cline.bot/features/cline-rules": {
    ".clinerules* .cline .clineignore": "Cline reads it as instructions, and runs the hooks and workflows in it",
  },
  "https://docs.roocode.com/features/custom-instructions": {
    ".roo .roorules* .roomodes .rooignore":
      "Roo Code reads it as instructions and modes, and starts the servers that it names",
  },
  "https://kilo.ai/docs/customize/custom-rules": {
    ".kilocode .kilocoderules* .kilocodemodes .kilocodeignore":
      "Kilo Code reads it as instructions and modes, and starts the servers that it names",
  },
  "https://aider.chat/docs/config/aider_conf.html": {
    ".aider*": "aider takes its options from it, among them commands that it runs to test and lint",
  },
  "https://docs.github.com/en/copilot/how-tos/configure-custom-instructions/add-repository-instructions": {
    ".copilotignore copilot-instructions.md": "GitHub Copilot reads it as instructions, or as what it may not see",
  },
  "https://block.github.io/goose/docs/guides/using-goosehints": {
    ".goosehints .goose .gooseignore": "goose reads it as instructions in every session",
  },
  "https://www.jetbrains.com/help/junie/customize-guidelines.html": {
    ".junie .aiignore": "JetBrains' agents read it as guidelines, servers to start, and files that they may not see",
  },
  "https://www.jetbrains.com/help/ai-assistant/configure-project-rules.html": {
    ".aiassistant": "JetBrains AI Assistant adds the rules in it to every chat",
  },
  "https://docs.zencoder.ai/rules-context/zen-rules": { ".zencoder": "Zencoder reads it as rules" },
  "https://ampcode.com/manual": { ".amp": "Amp takes settings, permissions and servers from it" },
  "https://opencode.ai/docs/config": {
    ".opencode opencode.json opencode.jsonc":
      "opencode takes permissions, plugins, agents and servers from it, and runs the plugins",
  },
  "https://github.com/charmbracelet/crush": {
    ".crush .crush.json crush.json CRUSH.md CRUSH.local.md .crushignore":
      "Crush takes permissions, language servers and servers to start from it",
  },
  "https://docs.augmentcode.com/setup-augment/guidelines": {
    ".augment .augment-guidelines .augmentignore": "Augment reads it as instructions and commands",
  },
  "https://docs.trae.ai/ide/rules": { ".trae": "Trae reads it as rules, and starts the servers that it names" },
  "https://docs.warp.dev/agent-platform/capabilities/rules": {
    "WARP.md .warp .warpindexingignore":
      "Warp's agents read it as rules in every session, and offer the workflows in it",
  },
  "https://zed.dev/docs/ai/rules": { ".rules": "Zed's agent reads it as instructions in every session" },
  "https://docs.openhands.dev/openhands/usage/customization/repository": {
    ".openhands .openhands_instructions": "OpenHands takes instructions from it, and runs the set-up script in it",
  },
  "https://docs.factory.ai/cli/configuration/settings": {
    ".factory": "Factory's droids take settings, hooks, commands and servers from it",
  },
  "https://sourcegraph.com/docs/cody": { ".sourcegraph": "Cody and Amp take rules and prompts from it" },
  "https://docs.tabnine.com": {
    ".tabnine .tabnine_commands .tabnineignore": "Tabnine takes guidelines, commands and servers from it",
  },
  "https://www.codebuddy.ai/docs": {
    ".codebuddy CODEBUDDY.md .qoder": "the agent reads it as instructions, and starts the servers that it names",
  },
  "https://github.com/mistralai/mistral-vibe": {
    ".vibe": "Mistral Vibe takes configuration, tools and servers from it",
  },
  "https://docs.x.ai/build/features/project-rules": {
    ".grok GROK.md": "Grok reads it as rules in every session, and starts the servers that its settings name",
  },
  "https://docs.qodo.ai": {
    ".qodo": "Qodo reads it as instructions and workflows, and starts the servers that it names",
  },
  "https://oraios.github.io/serena": {
    ".serena": "Serena starts language servers as it says, and reads its memories as instructions",
  },
  "https://firebase.google.com/docs/studio/customize-workspace": {
    "airules.md .idx":
      "Firebase Studio reads it as instructions, and builds the environment and runs the hooks that it names",
  },
  "https://developer.stackblitz.com/platform/webcontainers/project-config": {
    ".bolt .stackblitzrc": "Bolt and StackBlitz read it as a prompt, and run the start command in it",
  },
  "https://gptme.org/docs/config.html": {
    "gptme.toml gptme.local.toml": "gptme takes prompts, files and commands from it",
  },
  "https://platform.iflow.cn/en/cli/configuration/settings": {
    "IFLOW.md .iflow": "iFlow CLI reads it as instructions, and runs the hooks and servers that its settings name",
  },
  "https://docs.firebender.com/api-reference/syntax": {
    ".firebender firebender.json": "Firebender reads it as rules and commands, and starts the servers that it names",
  },
  "https://github.com/badlogic/pi-mono/tree/main/packages/coding-agent": {
    ".pi": "pi takes settings, prompts and skills from it, and runs the extensions in it",
  },
  "https://support.atlassian.com/rovo/docs/use-rovo-dev-cli": {
    ".rovodev": "Rovo Dev takes permissions, memory and agents from it, and starts the servers that it names",
  },
});
