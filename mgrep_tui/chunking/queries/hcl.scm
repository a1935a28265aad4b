;; grammar: terraform
;; comments: # //
;; block: /* */
;; separators: .
;; body: body

(config_file (body (block . (identifier) @name . (string_lit (template_literal) @name)* . (block_start)) @object))
(config_file (body (block . (identifier) @name . (identifier) @name . (block_start)) @object))
(config_file (body (attribute (identifier) @name) @constant))
