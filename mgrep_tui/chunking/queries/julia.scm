;; comments: #
;; block: #= =#
;; attributes: @
;; separators: .

(module_definition name: (_) @name) @module
(struct_definition (type_head [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
    (binary_expression . (identifier) @name)
    (binary_expression . (parametrized_type_expression . (identifier) @name))])) @struct
(abstract_definition (type_head [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
    (binary_expression . (identifier) @name)
    (binary_expression . (parametrized_type_expression . (identifier) @name))])) @type
(primitive_definition (type_head . (identifier) @name)) @type

(function_definition (signature [
    (identifier) @name
    (call_expression . [(identifier) (field_expression) (operator)] @name)
    (call_expression . (parametrized_type_expression . [(identifier) (field_expression)] @name))
    (typed_expression . (call_expression . [(identifier) (field_expression)] @name))
    (where_expression . (call_expression . [(identifier) (field_expression) (operator)] @name))
    (where_expression . (call_expression . (parametrized_type_expression . [(identifier) (field_expression)] @name)))
    (where_expression . (typed_expression . (call_expression . [(identifier) (field_expression)] @name)))
    (where_expression . (where_expression . (call_expression . [(identifier) (field_expression)] @name)))])) @function
(assignment . [
    (call_expression . [(identifier) (field_expression) (operator)] @name)
    (typed_expression . (call_expression . [(identifier) (field_expression)] @name))
    (where_expression . (call_expression . [(identifier) (field_expression) (operator)] @name))
    (where_expression . (typed_expression . (call_expression . [(identifier) (field_expression)] @name)))]) @function
(macro_definition (signature (call_expression . (identifier) @name))) @macro
(const_statement (assignment . (identifier) @name)) @constant
(source_file (assignment . (identifier) @name) @constant)

; A string in front of a definition is its documentation.
((string_literal) @lead . [(function_definition) (struct_definition) (assignment) (macro_definition) (abstract_definition) (module_definition) (const_statement) (macrocall_expression)])

(using_statement) @import
(import_statement) @import
(export_statement) @import
