; What C and C++ share; no language of its own.
;; comments: //
;; block: /* */
;; attributes: #if #else #elif #endif

(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))) @function

; A macro that makes the signature: `static ALLOC_FUNC(my_alloc) {`, `UNUSED(static int f(void)) {`, `SYSCALL_DEFINE2(open, ...) {`.
(function_definition declarator: (parenthesized_declarator (identifier) @name)) @function
([(translation_unit (expression_statement (call_expression
    function: (identifier) @_macro arguments: (argument_list . (identifier) @name))) @function . (compound_statement) @body)
  (preproc_ifdef (expression_statement (call_expression
    function: (identifier) @_macro arguments: (argument_list . (identifier) @name))) @function . (compound_statement) @body)
  (preproc_if (expression_statement (call_expression
    function: (identifier) @_macro arguments: (argument_list . (identifier) @name))) @function . (compound_statement) @body)]
  (#match? @_macro "^[A-Z][A-Z0-9_]+$"))

(struct_specifier name: (type_identifier) @name body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @struct
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(enumerator name: (_) @name) @constant
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(translation_unit (declaration declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name)
    (init_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name)))]) @constant)

(preproc_def name: (_) @name) @macro
(preproc_function_def name: (_) @name) @macro

(preproc_include) @import
