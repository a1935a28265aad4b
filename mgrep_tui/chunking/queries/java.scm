;; comments: //
;; block: /* */
;; attributes: @

(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(annotation_type_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(record_declaration name: (_) @name) @class
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(compact_constructor_declaration name: (_) @name) @method
(field_declaration declarator: (variable_declarator name: (_) @name)) @property
(enum_constant name: (_) @name) @constant
(annotation_type_element_declaration name: (_) @name) @method

(program (package_declaration) @import)
(program (import_declaration) @import)
