;; comments: #
;; separators: ::

(class name: (_) @name) @class
(module name: (_) @name) @module
(singleton_class) @wrap
(method name: (_) @name) @function
(singleton_method object: (constant) @container name: (_) @name) @method
(singleton_method name: (_) @name) @method
(assignment left: (constant) @name) @constant
(assignment left: (constant) @name right: (call receiver: (constant) @_struct method: (identifier) @_new block: (_)
  (#any-of? @_struct "Struct" "Class" "Module" "Data") (#any-of? @_new "new" "define"))) @class
((call method: (identifier) @_define arguments: (argument_list . (simple_symbol) @name) block: (_)) @method
  (#any-of? @_define "define_method" "define_singleton_method"))

(program (call !receiver method: (identifier) @_require) @import
  (#any-of? @_require "require" "require_relative" "load" "autoload"))
