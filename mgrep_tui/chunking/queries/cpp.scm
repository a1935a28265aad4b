;; inherits: _c_family
;; grammar: cpp
;; separators: ::

(function_definition declarator: (function_declarator declarator: [(qualified_identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: [(qualified_identifier) (field_identifier) (operator_name)] @name))) @function
(function_definition declarator: (reference_declarator (function_declarator declarator: [(identifier) (qualified_identifier) (field_identifier) (operator_name)] @name))) @function
(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @module
(alias_declaration name: (_) @name) @type
(template_declaration) @wrap
