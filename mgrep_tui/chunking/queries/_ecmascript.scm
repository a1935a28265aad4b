; What JavaScript and TypeScript share; no language of its own.
;; comments: //
;; block: /* */
;; attributes: @

(class_declaration name: (_) @name) @class
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: (_) @name) @method

; What a function or class is bound to names it.
(lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)])) @function
(variable_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)])) @function
(lexical_declaration (variable_declarator name: (identifier) @name value: (class))) @class
(pair key: (_) @name value: [(arrow_function) (function_expression)]) @function
(expression_statement (assignment_expression left: (identifier) @name right: [(arrow_function) (function_expression)])) @function
(expression_statement (assignment_expression
  left: (member_expression object: (identifier) @_object property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)])) @function
(expression_statement (assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @container property: (property_identifier) @_prototype (#eq? @_prototype "prototype"))
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)])) @method
(expression_statement (assignment_expression
  left: (member_expression object: (member_expression) property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)])) @function
; `app[verb] = function () …`: known by the word in the brackets.
(expression_statement (assignment_expression
  left: (subscript_expression object: [(identifier) @container (member_expression object: (identifier) @container)] index: (_) @name)
  right: [(arrow_function) (function_expression)])) @function
(program (lexical_declaration (variable_declarator name: (identifier) @name value: (call_expression
  function: [(identifier) @_wrapper (member_expression property: (property_identifier) @_wrapper)]
  arguments: (arguments . [(arrow_function) (function_expression)])))
  (#any-of? @_wrapper "memo" "forwardRef" "useCallback" "debounce" "throttle" "once" "observer")) @function)
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (call_expression
  function: [(identifier) @_wrapper (member_expression property: (property_identifier) @_wrapper)]
  arguments: (arguments . [(arrow_function) (function_expression)])))
  (#any-of? @_wrapper "memo" "forwardRef" "useCallback" "debounce" "throttle" "once" "observer")) @function))

; A named function that is handed on or returned.
(function_expression name: (identifier) @name) @function
(generator_function name: (identifier) @name) @function
(class name: (_) @name) @class

(export_statement) @wrap

(program (lexical_declaration (variable_declarator name: (identifier) @name)) @constant)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @constant)
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name)) @constant))

(program (import_statement) @import)
