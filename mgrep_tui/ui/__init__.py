"""The screen. Only this room knows Textual and Rich."""
