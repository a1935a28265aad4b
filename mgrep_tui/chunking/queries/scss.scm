;; inherits: css
;; grammar: scss
;; comments: //

(mixin_statement name: (_) @name) @macro
(function_statement name: (_) @name) @function
(stylesheet (declaration (property_name) @name) @constant)
(use_statement) @import
(forward_statement) @import
