;; comments: //
;; block: /* */

(function_declaration name: (_) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @container
    (pointer_type (type_identifier) @container)
    (generic_type type: (type_identifier) @container)
    (pointer_type (generic_type type: (type_identifier) @container))]))
  name: (_) @name) @method
(type_declaration (type_spec name: (_) @name type: (struct_type))) @struct
(type_declaration (type_spec name: (_) @name type: (interface_type))) @interface
(type_declaration (type_spec name: (_) @name)) @type
(type_declaration (type_alias name: (_) @name)) @type
(source_file (const_declaration (const_spec name: (_) @name)) @constant)
(source_file (var_declaration (var_spec name: (_) @name)) @constant)

(package_clause) @import
(import_declaration) @import
