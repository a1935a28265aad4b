;; comments: #

(binary_operator lhs: [(identifier) (string) (namespace_operator)] @name operator: ["<-" "=" "<<-" ":="] rhs: (function_definition)) @function
(binary_operator lhs: (identifier) @name rhs: (call function: [
    (identifier) @_class
    (namespace_operator rhs: (identifier) @_class)]) (#any-of? @_class "R6Class" "setRefClass" "ggproto")) @class
(program (binary_operator lhs: (identifier) @name operator: ["<-" "=" "<<-"]) @constant)
((call function: (identifier) @_class arguments: (arguments . argument: (argument value: (string content: (_) @name)))) @class
  (#any-of? @_class "setClass" "setRefClass"))
((call function: (identifier) @_method arguments: (arguments
    . argument: (argument value: (string content: (_) @name))
    . (comma)
    . argument: (argument value: (string content: (_) @container)))) @method
  (#eq? @_method "setMethod"))
((call function: (identifier) @_method arguments: (arguments . argument: (argument value: (string content: (_) @name)))) @method
  (#any-of? @_method "setMethod" "setGeneric" "setValidity"))
((call function: (identifier) @_test arguments: (arguments . argument: (argument value: (string content: (_) @name)))) @function
  (#any-of? @_test "test_that" "describe"))

; Methods of an R6 class: functions in the lists among its arguments.
(arguments (argument name: (identifier) @_list value: (call arguments: (arguments
    (argument name: (identifier) @name value: (function_definition)) @method)))
  (#any-of? @_list "public" "private" "active" "methods"))

(program (call function: (identifier) @_library) @import (#any-of? @_library "library" "require" "source" "import" "box::use"))
