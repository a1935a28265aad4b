;; comments: // #
;; block: /* */
;; separators: \

(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(trait_declaration name: (_) @name) @trait
(enum_declaration name: (_) @name) @enum
(enum_case name: (_) @name) @constant
(namespace_definition name: (_) @name body: (_)) @module
(namespace_definition name: (_) @name !body) @package
(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @method
(program (const_declaration (const_element (name) @name)) @constant)
(declaration_list (const_declaration (const_element (name) @name)) @property)
(property_declaration (property_element (variable_name (name) @name))) @property
(expression_statement (assignment_expression left: (variable_name (name) @name) right: [(anonymous_function) (arrow_function)])) @function

(namespace_use_declaration) @import
