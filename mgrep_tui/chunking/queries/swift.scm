;; comments: //
;; block: /* */
;; attributes: @ #
;; separators: .

(class_declaration "class" name: (_) @name) @class
(class_declaration "struct" name: (_) @name) @struct
(class_declaration "enum" name: (_) @name) @enum
(class_declaration "actor" name: (_) @name) @class
(class_declaration "extension" name: (_) @name) @impl
(protocol_declaration name: (_) @name) @interface

(function_declaration name: [(simple_identifier) (custom_operator)] @name) @function
(function_declaration name: (bang) @name) @function
(protocol_function_declaration name: (simple_identifier) @name) @method
((init_declaration) @method (#set! name "init"))
((deinit_declaration) @method (#set! name "deinit"))
((subscript_declaration) @method (#set! name "subscript"))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @property
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @property
(enum_entry name: (simple_identifier) @name) @constant
(typealias_declaration name: (type_identifier) @name) @type
(associatedtype_declaration name: (type_identifier) @name) @property
(macro_declaration (simple_identifier) @name) @macro

(source_file (import_declaration) @import)
