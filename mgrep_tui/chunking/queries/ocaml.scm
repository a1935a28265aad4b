;; block: (* *)

(module_definition (module_binding (module_name) @name)) @module
(module_type_definition (module_type_name) @name) @interface
(class_definition (class_binding (class_name) @name)) @class
(method_definition (method_name) @name) @method
(type_definition (type_binding name: (_) @name)) @type
(exception_definition (constructor_declaration (constructor_name) @name)) @type
(external (value_name) @name) @function
(value_specification (value_name) @name) @function
(value_definition (let_binding pattern: (value_name) @name . (parameter))) @function
(value_definition (let_binding pattern: (parenthesized_operator) @name)) @function
(value_definition (let_binding pattern: (value_name) @name body: [(function_expression) (fun_expression)])) @function
(structure (value_definition (let_binding pattern: (value_name) @name)) @property)
(compilation_unit (value_definition (let_binding pattern: (value_name) @name)) @constant)

(open_module) @import
