/** Files that coding agents obey: instructions, permissions, hooks and servers that they start. */
import type { ObeyedFiles } from "./obeyed-file.ts";

/** Agents' own files. */
export const AGENT_FILES: readonly ObeyedFiles[] = [
  {
    patterns: ["CLAUDE.md", "CLAUDE.local.md"],
    reason: "Claude Code reads it as instructions in every session",
    source: "https://docs.claude.com/en/docs/claude-code/memory",
  },
  {
    patterns: [".claude", ".claude.json", ".claude-plugin"],
    reason: "Claude Code takes permissions, hooks, commands, skills and plugins from it, and runs the hooks",
    source: "https://docs.claude.com/en/docs/claude-code/settings",
  },
  {
    patterns: [".mcp.json", "mcp.json", ".mcp"],
    reason: "agents and editors start the servers that it names",
    source: "https://docs.claude.com/en/docs/claude-code/mcp",
  },
  {
    patterns: ["AGENTS.md", "AGENTS.override.md", "AGENT.md"],
    reason: "most coding agents read it as instructions in every session",
    source: "https://agents.md",
  },
  {
    patterns: [".agents", ".agent"],
    reason: "agents take skills, rules and workflows from it",
    source: "https://agentskills.io/specification",
  },
  {
    patterns: [".codex"],
    reason: "Codex takes its configuration, servers, rules and notification programs from it",
    source: "https://developers.openai.com/codex/config-reference",
  },
  {
    patterns: ["GEMINI.md"],
    reason: "Gemini CLI reads it as instructions in every session",
    source: "https://geminicli.com/docs/cli/gemini-md",
  },
  {
    patterns: [".gemini"],
    reason: "Gemini CLI takes settings, servers, hooks and extensions from it, and Gemini Code Assist how it reviews",
    source: "https://geminicli.com/docs/reference/configuration",
  },
  {
    patterns: [".geminiignore", ".aiexclude"],
    reason: "it decides which files Gemini may read and send to its model",
    source: "https://geminicli.com/docs/cli/gemini-ignore",
  },
  {
    patterns: ["QWEN.md", ".qwen", ".qwenignore"],
    reason: "Qwen Code reads it as instructions, and starts the servers that its settings name",
    source: "https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings",
  },
  {
    patterns: [".cursorrules", ".cursor"],
    reason: "Cursor reads it as instructions, and runs the hooks and servers that it names",
    source: "https://cursor.com/docs/context/rules",
  },
  {
    patterns: [".cursorignore", ".cursorindexingignore"],
    reason: "it decides which files Cursor may read and send to its model",
    source: "https://cursor.com/docs/context/ignore-files",
  },
  {
    patterns: [".windsurfrules", ".windsurf", ".codeium", ".codeiumignore"],
    reason: "Windsurf reads it as instructions, workflows and hooks",
    source: "https://docs.windsurf.com/windsurf/cascade/memories",
  },
  {
    patterns: [".kiro"],
    reason: "Kiro takes steering, hooks and servers from it, and runs the hooks",
    source: "https://kiro.dev/docs/steering",
  },
  {
    patterns: [".amazonq"],
    reason: "Amazon Q Developer takes rules, agents and servers from it",
    source: "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/context-project-rules.html",
  },
  {
    patterns: [".continue", ".continuerules", ".continuerc.json", ".continueignore"],
    reason: "Continue reads it as rules, models and servers to start",
    source: "https://docs.continue.dev/customize/deep-dives/rules",
  },
  {
    patterns: [".clinerules*", ".cline", ".clineignore"],
    reason: "Cline reads it as instructions, and runs the hooks and workflows in it",
    source: "https://docs.cline.bot/features/cline-rules",
  },
  {
    patterns: [".roo", ".roorules*", ".roomodes", ".rooignore"],
    reason: "Roo Code reads it as instructions and modes, and starts the servers that it names",
    source: "https://docs.roocode.com/features/custom-instructions",
  },
  {
    patterns: [".kilocode", ".kilocoderules*", ".kilocodemodes", ".kilocodeignore"],
    reason: "Kilo Code reads it as instructions and modes, and starts the servers that it names",
    source: "https://kilo.ai/docs/customize/custom-rules",
  },
  {
    patterns: [".aider*"],
    reason: "aider takes its options from it, among them commands that it runs to test and lint",
    source: "https://aider.chat/docs/config/aider_conf.html",
  },
  {
    patterns: [".copilotignore", "copilot-instructions.md"],
    reason: "GitHub Copilot reads it as instructions, or as what it may not see",
    source: "https://docs.github.com/en/copilot/how-tos/configure-custom-instructions/add-repository-instructions",
  },
  {
    patterns: [".goosehints", ".goose", ".gooseignore"],
    reason: "goose reads it as instructions in every session",
    source: "https://block.github.io/goose/docs/guides/using-goosehints",
  },
  {
    patterns: [".junie", ".aiignore"],
    reason: "JetBrains' agents read it as guidelines, servers to start, and files that they may not see",
    source: "https://www.jetbrains.com/help/junie/customize-guidelines.html",
  },
  {
    patterns: [".amp"],
    reason: "Amp takes settings, permissions and servers from it",
    source: "https://ampcode.com/manual",
  },
  {
    patterns: [".opencode", "opencode.json", "opencode.jsonc"],
    reason: "opencode takes permissions, plugins, agents and servers from it, and runs the plugins",
    source: "https://opencode.ai/docs/config",
  },
  {
    patterns: [".crush", ".crush.json", "crush.json", "CRUSH.md", "CRUSH.local.md", ".crushignore"],
    reason: "Crush takes permissions, language servers and servers to start from it",
    source: "https://github.com/charmbracelet/crush",
  },
  {
    patterns: [".augment", ".augment-guidelines", ".augmentignore"],
    reason: "Augment reads it as instructions and commands",
    source: "https://docs.augmentcode.com/setup-augment/guidelines",
  },
  {
    patterns: [".trae"],
    reason: "Trae reads it as rules, and starts the servers that it names",
    source: "https://docs.trae.ai/ide/rules",
  },
  {
    patterns: ["WARP.md", ".warp", ".warpindexingignore"],
    reason: "Warp's agents read it as rules in every session, and offer the workflows in it",
    source: "https://docs.warp.dev/agent-platform/capabilities/rules",
  },
  {
    patterns: [".rules"],
    reason: "Zed's agent reads it as instructions in every session",
    source: "https://zed.dev/docs/ai/rules",
  },
  {
    patterns: [".openhands", ".openhands_instructions"],
    reason: "OpenHands takes instructions from it, and runs the set-up script in it",
    source: "https://docs.openhands.dev/openhands/usage/customization/repository",
  },
  {
    patterns: [".factory"],
    reason: "Factory's droids take settings, hooks, commands and servers from it",
    source: "https://docs.factory.ai/cli/configuration/settings",
  },
  {
    patterns: [".sourcegraph"],
    reason: "Cody and Amp take rules and prompts from it",
    source: "https://sourcegraph.com/docs/cody",
  },
  {
    patterns: [".tabnine", ".tabnine_commands", ".tabnineignore"],
    reason: "Tabnine takes guidelines, commands and servers from it",
    source: "https://docs.tabnine.com",
  },
  {
    patterns: [".codebuddy", "CODEBUDDY.md", ".qoder"],
    reason: "the agent reads it as instructions, and starts the servers that it names",
    source: "https://www.codebuddy.ai/docs",
  },
  {
    patterns: [".vibe"],
    reason: "Mistral Vibe takes configuration, tools and servers from it",
    source: "https://github.com/mistralai/mistral-vibe",
  },
  {
    patterns: [".grok", "GROK.md"],
    reason: "Grok reads it as rules in every session, and starts the servers that its settings name",
    source: "https://docs.x.ai/build/features/project-rules",
  },
  {
    patterns: [".serena"],
    reason: "Serena starts language servers as it says, and reads its memories as instructions",
    source: "https://oraios.github.io/serena",
  },
  {
    patterns: ["airules.md", ".idx"],
    reason: "Firebase Studio reads it as instructions, and builds the environment and runs the hooks that it names",
    source: "https://firebase.google.com/docs/studio/customize-workspace",
  },
  {
    patterns: [".bolt", ".stackblitzrc"],
    reason: "Bolt and StackBlitz read it as a prompt, and run the start command in it",
    source: "https://developer.stackblitz.com/platform/webcontainers/project-config",
  },
];
