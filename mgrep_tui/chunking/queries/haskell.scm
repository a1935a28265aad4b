;; comments: --
;; block: {- -}
;; clauses: yes
;; body: match declarations

(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synomym name: (_) @name) @type
(type_family name: (_) @name) @type
(class name: (_) @name) @class
(instance name: (_) @container patterns: (_) @name) @impl
; Only where they are declarations: what `let` and `where` bind is part of its function.
(declarations [(function name: (_) @name) (bind name: (_) @name)] @function)
(class_declarations [(function name: (_) @name) (bind name: (_) @name)] @method)
(instance_declarations [(function name: (_) @name) (bind name: (_) @name)] @method)
(declarations (function (infix operator: (infix_id (_) @name))) @function)
(declarations (function (infix operator: (_) @name)) @function)
(instance_declarations (function (infix operator: (_) @name)) @method)
(class_declarations (signature name: (_) @name) @method)
(pattern_synonym (_ synonym: (_ name: (_) @name))) @constant
(pattern_synonym (signature synonym: (_) @name)) @constant

(declarations (signature) @lead)
(declarations (kind_signature) @lead)
(instance_declarations (signature) @lead)
(pragma) @lead
(fixity) @lead

(header) @import
(imports (import) @import)
