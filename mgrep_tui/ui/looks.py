"""The style sheet: only places and backgrounds. Colours of text come from the palette."""

CSS = """
Screen { background: $background; color: $foreground; layers: base over; }
ModalScreen { background: $background 55%; align: center middle; }

#title { height: 1; }
#query-row { height: 1; }
#prompt { width: 3; height: 1; }
#query { width: 1fr; height: 1; border: none; padding: 0; background: $background; background-tint: $background 0%; }
#query:focus { border: none; background: $background; background-tint: $background 0%; }
QueryInput > .input--cursor { background: $background; color: $foreground; text-style: reverse; }
QueryInput > .input--placeholder { color: $text-muted; text-style: none; }
QueryInput > .input--selection { background: $accent 40%; }
#mode { width: 34; height: 1; }
#summary, #filters, #status, #footer { height: 1; }
#filters { display: none; }
Screen.-filtering #filters { display: block; }
Screen.-filtering #summary { display: none; }
#rule-top, #rule-bottom { height: 1; }
#body { height: 1fr; layout: horizontal; }
#left { width: 45%; height: 1fr; }
#results, #start { width: 1fr; height: 1fr; }
#results, #start, #overlay-rows, #completions {
    scrollbar-background: $background; scrollbar-background-hover: $background;
    scrollbar-background-active: $background;
    scrollbar-color: $scrollbar; scrollbar-color-hover: $scrollbar-hover; scrollbar-color-active: $scrollbar-active;
    scrollbar-size-vertical: 1; overflow-x: hidden; overflow-y: scroll;
}
#start { display: none; }
#splitter { width: 1; height: 1fr; }
#preview { width: 1fr; height: 1fr; }
#tiny { display: none; width: 1fr; height: 1fr; content-align: center middle; }
#completions { layer: over; display: none; width: 40; height: 8; background: $panel; scrollbar-background: $panel; }

Screen.-no-preview #preview, Screen.-no-preview #splitter { display: none; }
Screen.-no-preview #left { width: 1fr; }

Screen.-medium #body { layout: vertical; }
Screen.-medium #left { width: 1fr; height: 1fr; }
Screen.-medium #splitter { width: 1fr; height: 1; }
Screen.-medium #preview { width: 1fr; }
Screen.-medium #rule-bottom { display: none; }

Screen.-narrow #title, Screen.-narrow #rule-bottom, Screen.-narrow #rule-top, Screen.-narrow #footer { display: none; }
Screen.-narrow #splitter, Screen.-narrow #preview { display: none; }
Screen.-narrow #left { width: 1fr; }
Screen.-narrow #mode { width: 9; }
Screen.-narrow.-full-preview #left { display: none; }
Screen.-narrow.-full-preview #preview { display: block; width: 1fr; height: 1fr; }

Screen.-tiny > * { display: none; }
Screen.-tiny > #tiny { display: block; }

#box {
    width: 76; max-width: 94%; height: auto; max-height: 70%; min-height: 6;
    background: $surface; border: round $border-blurred; padding: 0 1;
}
Overlay.-tall #box { width: 110; height: 88%; max-height: 88%; }
#overlay-title { height: 1; margin-bottom: 1; background: $surface; }
#box QueryInput, #box QueryInput:focus { background: $panel; height: 1; margin: 0 1 1 1; padding: 0 1; width: 1fr; border: none; }
#overlay-rows { height: auto; max-height: 30; min-height: 3; background: $surface; scrollbar-background: $surface;
    scrollbar-background-hover: $surface; scrollbar-background-active: $surface; }
Overlay.-tall #overlay-rows { height: 1fr; max-height: 100%; }

Overlay.-small #box { max-height: 100%; max-width: 100%; }
Overlay.-small.-tall #box { height: 100%; }
Overlay.-small #overlay-title { margin-bottom: 0; }
Overlay.-small #box QueryInput, Overlay.-small #box QueryInput:focus { margin-bottom: 0; }

ToastRack { margin-bottom: 2; }
Toast { background: $panel; color: $foreground; border-left: outer $accent; padding: 0 1; max-width: 70%; width: auto; }
Toast.-warning { border-left: outer $warning; }
Toast.-error { border-left: outer $error; }
"""
