;; inherits: _ecmascript
;; grammar: javascript

(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @method
(field_definition property: (_) @name) @property
