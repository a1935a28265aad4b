;; comments: #
;; body: recipe
;; flat: yes

(rule (targets) @name (#not-match? @name "^\\.[A-Z]")) @rule
(define_directive name: (_) @name) @macro
(makefile (variable_assignment name: (_) @name) @constant)

(include_directive) @import
