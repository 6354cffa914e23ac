/**
 * Lists the clients that can be set up, each with its files and its own tools.
 *
 * The names of tools are those of Claude Code 2.1, Codex 0.171, Gemini CLI 0.61, and of Cursor's, VS Code's and Zed's
 * pages on their settings.
 */
import { join } from "node:path";
import { type Client, type ClientPlace, SERVER_NAME, serverCommand } from "./client.ts";

/** Claude Code's own tools for files, commands and the network; a rule that names one takes it away from the model. */
const CLAUDE_TOOLS = [
  ...["Bash", "BashOutput", "KillShell", "PowerShell", "Monitor"],
  ...["Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep", "LSP"],
  ...["WebFetch", "WebSearch", "EnterWorktree", "ExitWorktree", "CronCreate"],
];

const GEMINI_TOOLS = [
  ...["run_shell_command", "read_file", "read_many_files", "write_file", "replace"],
  ...["glob", "grep_search", "search_file_content", "list_directory", "web_fetch", "google_web_search"],
];

const CODEX_FEATURES = ["shell_tool", "unified_exec", "view_image", "apps", "browser_use", "computer_use"];

/** Cursor's command line: every command, file and page. */
const CURSOR_DENIED = ["Shell(**)", "Read(**)", "Write(**)", "WebFetch(*)"];

const ZED_TOOLS = [
  ...["terminal", "read_file", "edit_file", "write_file", "create_directory", "copy_path", "move_path", "delete_path"],
  ...["list_directory", "find_path", "grep", "fetch", "web_search", "open", "diagnostics", "restore_file_from_disk"],
  ...["save_file", "spawn_agent"],
];

const VSCODE_AGENT = `---
description: Works through Handrail alone
tools: ["${SERVER_NAME}/*"]
---

Use the tools of Handrail for files, commands and the network. A refused call says which rule refused it and what to do
next.
`;

/** The clients, by their names. */
export const CLIENTS: readonly Client[] = [
  {
    name: "claude-code",
    title: "Claude Code",
    scope: "project",
    files: (place) => [
      mcpServersFile(join(place.workspace, ".mcp.json"), place, { type: "stdio" }),
      {
        path: join(place.workspace, ".claude", "settings.local.json"),
        format: "jsonc",
        edits: [
          { at: ["enabledMcpjsonServers"], members: [SERVER_NAME] },
          // Handrail asks by itself
          { at: ["permissions", "allow"], members: [`mcp__${SERVER_NAME}`] },
          { at: ["permissions", "deny"], members: CLAUDE_TOOLS },
        ],
      },
    ],
    servers: ({ workspace, home, environment }) => {
      const own = join(environment["CLAUDE_CONFIG_DIR"] || home, ".claude.json");
      return [
        { path: join(workspace, ".mcp.json"), at: ["mcpServers"] },
        { path: own, at: ["projects", workspace, "mcpServers"] },
        { path: own, at: ["mcpServers"] },
      ];
    },
    next: "start `claude` in the project; `/mcp` there shows the server",
  },
  {
    name: "codex",
    title: "Codex",
    scope: "user",
    files: (place) => [
      {
        path: codexConfig(place),
        format: "toml",
        edits: [
          // what patches files by itself stays offered, and is refused by its own sandbox
          { at: ["sandbox_mode"], value: "read-only" },
          { at: ["approval_policy"], value: "never" },
          { at: ["web_search"], value: "disabled" },
          ...CODEX_FEATURES.map((feature) => ({ at: ["features", feature], value: false })),
          {
            at: ["mcp_servers", SERVER_NAME],
            value: { ...serverCommand(place, "."), default_tools_approval_mode: "approve" },
          },
        ],
      },
    ],
    servers: (place) => [
      { path: codexConfig(place), at: ["mcp_servers"] },
      // of a project that the user has trusted
      { path: join(place.workspace, ".codex", "config.toml"), at: ["mcp_servers"] },
    ],
    next: "start `codex` in a project: Handrail serves the directory that it is started in",
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    scope: "project",
    files: (place) => [
      {
        path: join(place.workspace, ".gemini", "settings.json"),
        format: "jsonc",
        edits: [
          // trusted: Handrail asks by itself
          { at: ["mcpServers", SERVER_NAME], value: { ...serverCommand(place, place.workspace), trust: true } },
          { at: ["tools", "exclude"], members: GEMINI_TOOLS },
        ],
      },
    ],
    servers: ({ workspace, home }) =>
      [workspace, home].map((root) => ({ path: join(root, ".gemini", "settings.json"), at: ["mcpServers"] })),
    next: "start `gemini` in the project, and trust its folder; `/mcp` there shows the server",
  },
  {
    name: "cursor",
    title: "Cursor",
    scope: "project",
    files: (place) => [
      mcpServersFile(join(place.workspace, ".cursor", "mcp.json"), place, {}),
      {
        path: join(place.workspace, ".cursor", "cli.json"),
        format: "jsonc",
        edits: [
          { at: ["permissions", "allow"], members: [`Mcp(${SERVER_NAME}, *)`] },
          { at: ["permissions", "deny"], members: CURSOR_DENIED },
        ],
      },
    ],
    servers: ({ workspace, home }) =>
      [workspace, home].map((root) => ({ path: join(root, ".cursor", "mcp.json"), at: ["mcpServers"] })),
    wayRound:
      "the editor's own agent keeps its tools for files and commands; Cursor has no setting that takes them away",
    next: "open the project in Cursor, and switch the server on in its settings under MCP",
  },
  {
    name: "vscode",
    title: "Visual Studio Code",
    scope: "project",
    files: (place) => [
      {
        path: join(place.workspace, ".vscode", "mcp.json"),
        format: "jsonc",
        edits: [
          {
            at: ["servers", SERVER_NAME],
            value: { type: "stdio", ...serverCommand(place, place.workspace) },
          },
        ],
      },
      {
        path: join(place.workspace, ".github", "agents", `${SERVER_NAME}.agent.md`),
        format: "text",
        text: VSCODE_AGENT,
      },
    ],
    servers: ({ workspace, home, environment }) => [
      { path: join(workspace, ".vscode", "mcp.json"), at: ["servers"] },
      { path: join(configHome(home, environment), "Code", "User", "mcp.json"), at: ["servers"] },
    ],
    wayRound: `its other agents keep their own tools: choose the agent \`${SERVER_NAME}\` in the chat, which has Handrail's alone`,
    next: `start the server from \`.vscode/mcp.json\`, and choose the agent \`${SERVER_NAME}\` in the chat`,
  },
  {
    name: "zed",
    title: "Zed",
    scope: "user",
    files: (place) => [
      {
        path: zedSettings(place),
        format: "jsonc",
        edits: [
          { at: ["context_servers", SERVER_NAME], value: { ...serverCommand(place, place.workspace), env: {} } },
          {
            at: ["agent", "profiles", SERVER_NAME],
            value: {
              name: "Handrail",
              tools: Object.fromEntries(ZED_TOOLS.map((tool) => [tool, false])),
              enable_all_context_servers: true,
            },
          },
          { at: ["agent", "default_profile"], value: SERVER_NAME },
        ],
      },
    ],
    servers: (place) => [
      { path: zedSettings(place), at: ["context_servers"] },
      { path: join(place.workspace, ".zed", "settings.json"), at: ["context_servers"] },
    ],
    wayRound: `its other profiles keep their own tools: the profile \`${SERVER_NAME}\` is the default, and has Handrail's alone`,
    next: "restart Zed; the profile stands below the agent's input",
  },
];

function mcpServersFile(path: string, place: ClientPlace, more: Readonly<Record<string, string>>) {
  const value = { ...more, ...serverCommand(place, place.workspace) };
  return { path, format: "jsonc", edits: [{ at: ["mcpServers", SERVER_NAME], value }] } as const;
}

function codexConfig({ home, environment }: ClientPlace): string {
  return join(environment["CODEX_HOME"] || join(home, ".codex"), "config.toml");
}

function zedSettings({ home, environment }: ClientPlace): string {
  return join(configHome(home, environment), "zed", "settings.json");
}

function configHome(home: string, environment: ClientPlace["environment"]): string {
  return environment["XDG_CONFIG_HOME"] || join(home, ".config");
}
