;; comments: #

(function_definition name: (_) @name) @function
(program (variable_assignment name: (variable_name) @name) @constant)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @constant)
(program (command name: (command_name) @_source) @import (#any-of? @_source "source" "."))
