;; comments: //
;; block: /* */
;; attributes: [ #
;; separators: .

(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(struct_declaration name: (_) @name) @struct
(enum_declaration name: (_) @name) @enum
(enum_member_declaration name: (_) @name) @constant
(record_declaration name: (_) @name) @class
(delegate_declaration name: (_) @name) @type
(namespace_declaration name: (_) @name) @module
(file_scoped_namespace_declaration name: (_) @name) @package

(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
((destructor_declaration name: (_) @name) @method)
(operator_declaration operator: _ @name) @method
((conversion_operator_declaration) @method (#set! name "operator"))
((indexer_declaration) @method (#set! name "this[]"))
(local_function_statement name: (_) @name) @function

(property_declaration name: (_) @name) @property
(event_declaration name: (_) @name) @property
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @property
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @property

(using_directive) @import
