;; comments: #
;; attributes: @

(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(decorated_definition) @wrap

(module (assignment left: (identifier) @name) @constant)
(module (expression_statement (assignment left: (identifier) @name)) @constant)
(class_definition body: (block (assignment left: (identifier) @name) @property))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @property))
(module (type_alias_statement left: (type (identifier) @name)) @type)
(module (assignment left: (identifier) @name right: (lambda)) @function)

(module (import_statement) @import)
(module (import_from_statement) @import)
(module (future_import_statement) @import)
