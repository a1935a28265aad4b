;; inherits: _c_family
;; grammar: c

; `UNUSED(static int f(void)) {`
([(translation_unit (macro_type_specifier type: (type_descriptor
    type: (type_identifier) @name declarator: (abstract_function_declarator))) @function . (compound_statement) @body)
  (preproc_ifdef (macro_type_specifier type: (type_descriptor
    type: (type_identifier) @name declarator: (abstract_function_declarator))) @function . (compound_statement) @body)
  (preproc_if (macro_type_specifier type: (type_descriptor
    type: (type_identifier) @name declarator: (abstract_function_declarator))) @function . (compound_statement) @body)])
