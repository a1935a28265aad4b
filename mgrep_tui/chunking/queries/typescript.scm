;; inherits: _ecmascript
;; grammar: typescript

(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(enum_body [(property_identifier) (string)] @name @constant)
(enum_assignment name: (_) @name) @constant
(type_alias_declaration name: (_) @name) @type
(function_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @method
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
(method_signature name: (_) @name) @method
(property_signature name: (_) @name type: (type_annotation (function_type))) @method
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @method
(public_field_definition name: (_) @name) @property
