;; comments: //
;; block: /* */
;; attributes: @
;; separators: .

(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @class
(trait_definition name: (_) @name) @trait
(enum_definition name: (_) @name) @enum
(enum_case_definitions [(simple_enum_case name: (_) @name) (full_enum_case name: (_) @name)] @constant)
(package_object name: (_) @name) @class
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(given_definition name: (_) @name) @constant
(type_definition name: (_) @name) @property
(compilation_unit (val_definition pattern: (identifier) @name) @constant)
(compilation_unit (var_definition pattern: (identifier) @name) @constant)
(template_body (val_definition pattern: (identifier) @name) @property)
(template_body (var_definition pattern: (identifier) @name) @property)
(template_body (val_declaration name: (identifier) @name) @property)

(compilation_unit (package_clause !body) @import)
(compilation_unit (import_declaration) @import)
