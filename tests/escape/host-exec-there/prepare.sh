mkdir -p .vscode .idea .zed .devcontainer .husky .github/hooks .claude/agents .codex .gemini .cursor .windsurf .opencode
for f in .envrc .mcp.json .pre-commit-config.yaml .devcontainer.json opencode.json opencode.jsonc .gitmodules \
	.vscode/tasks.json .vscode/settings.json .idea/workspace.xml .zed/tasks.json .devcontainer/devcontainer.json .husky/pre-commit \
	.github/hooks/pre-commit .claude/settings.json .claude/agents/a.md .codex/config.toml .gemini/settings.json .cursor/mcp.json \
	.windsurf/mcp.json .opencode/plugin.js x.code-workspace lefthook.yml .lefthook.toml mise.toml .mise.local.toml; do
	echo good >"$f"
done
