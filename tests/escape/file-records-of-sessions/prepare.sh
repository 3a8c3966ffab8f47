mkdir -p ~/.local/state/sbx/sessions
