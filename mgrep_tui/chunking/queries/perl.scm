;; comments: #
;; separators: ::

(package_statement name: (package) @name (block)) @module
(package_statement name: (package) @name) @package
(class_statement name: (package) @name (block)) @class
(class_statement name: (package) @name) @package
(role_statement name: (package) @name) @package
(subroutine_declaration_statement name: (_) @name) @function
(method_declaration_statement name: (_) @name) @method
(use_statement module: (package) @_constant (list_expression . (autoquoted_bareword) @name) (#eq? @_constant "constant")) @constant
(source_file (expression_statement (assignment_expression left: (variable_declaration variable: (_) @name))) @constant)

(pod) @lead
(use_statement) @import
