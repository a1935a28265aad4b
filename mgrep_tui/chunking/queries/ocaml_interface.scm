;; inherits: _ocaml
;; grammar: ocaml_interface

(value_specification (parenthesized_operator) @name) @function
(method_specification (method_name) @name) @method
