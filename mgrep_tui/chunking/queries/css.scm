;; block: /* */

(rule_set (selectors) @name) @rule
(keyframes_statement (keyframes_name) @name) @rule
(media_statement . (_) @name (block)) @rule
(supports_statement . (_) @name (block)) @rule
(at_rule (at_keyword) @name) @rule

(import_statement) @import
(charset_statement) @import
