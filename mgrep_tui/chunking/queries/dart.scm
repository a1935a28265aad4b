;; comments: //
;; block: /* */
;; attributes: @

(class_definition name: (_) @name) @class
(mixin_declaration (identifier) @name) @class
(extension_declaration name: (_) @name) @impl
(extension_type_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @enum
(enum_constant name: (_) @name) @constant
(type_alias . (type_identifier) @name) @type

(program [(function_signature name: (_) @name) (getter_signature name: (_) @name) (setter_signature name: (_) @name)] @function
  . (function_body)? @body)
((method_signature [
    (function_signature name: (_) @name)
    (getter_signature name: (_) @name)
    (setter_signature name: (_) @name)
    (constructor_signature name: (_) @name . parameters: (_))
    (factory_constructor_signature (identifier) @name . (formal_parameter_list))
    (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list))
    (operator_signature (binary_operator) @name)]) @method . (function_body)? @body)
(declaration [
    (function_signature name: (_) @name)
    (getter_signature name: (_) @name)
    (setter_signature name: (_) @name)
    (constructor_signature name: (_) @name . parameters: (_))
    (constant_constructor_signature (_) @name . (formal_parameter_list))
    (factory_constructor_signature (identifier) @name . (formal_parameter_list))
    (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list))]) @method
(local_function_declaration (lambda_expression (function_signature name: (_) @name))) @function
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @property
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @property
(program (static_final_declaration_list (static_final_declaration . (identifier) @name) @constant))

(program (library_name) @import)
(program (import_or_export) @import)
