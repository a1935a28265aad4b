;; inherits: _ocaml
;; grammar: ocaml

(method_definition (method_name) @name) @method
(value_definition (let_binding pattern: (value_name) @name . (parameter))) @function
(value_definition (let_binding pattern: (parenthesized_operator) @name)) @function
(value_definition (let_binding pattern: (value_name) @name body: [(function_expression) (fun_expression)])) @function
(structure (value_definition (let_binding pattern: (value_name) @name)) @property)
(compilation_unit (value_definition (let_binding pattern: (value_name) @name)) @constant)
