; What modules of OCaml and their interfaces share; no language of its own.
;; block: (* *)

(module_definition (module_binding (module_name) @name)) @module
(module_type_definition (module_type_name) @name) @interface
(class_definition (class_binding (class_name) @name)) @class
(type_definition (type_binding name: (_) @name)) @type
(exception_definition (constructor_declaration (constructor_name) @name)) @type
(external (value_name) @name) @function
(value_specification (value_name) @name) @function

(open_module) @import
