;; comments: --
;; block: --[[ ]]
;; separators: . :

(function_declaration name: (_) @name) @function
(variable_declaration (assignment_statement (variable_list . name: (_) @name) (expression_list . value: (function_definition)))) @function
(chunk (assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name) (expression_list . value: (function_definition))) @function)
(block (assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name) (expression_list . value: (function_definition))) @function)
(chunk (assignment_statement (variable_list . name: (_) @name) (expression_list . value: (table_constructor))) @constant)
(field name: (identifier) @name value: (function_definition)) @function
(chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name))) @constant)
(chunk (variable_declaration (assignment_statement (variable_list . name: (_)) (expression_list . value: (function_call name: (identifier) @_require)))) @import
  (#eq? @_require "require"))
