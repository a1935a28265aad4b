;; comments: //
;; block: /* */
;; attributes: @
;; separators: .
;; body: class_body enum_class_body function_body

(class_declaration "interface" (type_identifier) @name) @interface
(class_declaration "enum" (type_identifier) @name) @enum
(class_declaration (type_identifier) @name) @class
(enum_entry (simple_identifier) @name) @constant
(object_declaration (type_identifier) @name) @class
(companion_object (type_identifier) @name) @class
((companion_object) @class (#set! name "Companion"))

; An extension belongs to the type that it extends.
(function_declaration receiver: (receiver_type (user_type (type_identifier) @container)) (simple_identifier) @name) @function
(function_declaration receiver: (receiver_type (nullable_type (user_type (type_identifier) @container))) (simple_identifier) @name) @function
(function_declaration (simple_identifier) @name) @function
((secondary_constructor) @method (#set! name "constructor"))
(property_declaration (variable_declaration (simple_identifier) @name)) @property
(type_alias (type_identifier) @name) @type

(source_file (package_header) @import)
(source_file (import_list) @import)
