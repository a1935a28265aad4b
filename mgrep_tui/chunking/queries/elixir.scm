;; comments: #
;; clauses: yes
;; body: do_block

((call target: (identifier) @_keyword (arguments . (alias) @name)) @class
  (#any-of? @_keyword "defmodule"))
((call target: (identifier) @_keyword (arguments . (alias) @name)) @interface
  (#eq? @_keyword "defprotocol"))
((call target: (identifier) @_keyword (arguments . (alias) @name)) @impl
  (#eq? @_keyword "defimpl"))

((call target: (identifier) @_keyword (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")])) @function
  (#any-of? @_keyword "def" "defp" "defdelegate" "defguard" "defguardp" "defn" "defnp"))
((call target: (identifier) @_keyword (arguments . (binary_operator operator: _ @name))) @function
  (#any-of? @_keyword "def" "defp")
  (#not-eq? @name "when"))
((call target: (identifier) @_keyword (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")])) @macro
  (#any-of? @_keyword "defmacro" "defmacrop"))
((call target: (identifier) @_keyword (arguments . (string (quoted_content) @name)) (do_block)) @function
  (#any-of? @_keyword "test" "describe"))
((call target: (identifier) @name) @property
  (#eq? @name "defstruct"))
(do_block (unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))) @property
  (#not-match? @name "^(doc|moduledoc|typedoc|spec|impl|deprecated|since|type|typep|opaque|callback|behaviour|derive|dialyzer)$"))
(unary_operator operator: "@" operand: (call target: (identifier) @_type
    (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @_type "type" "typep" "opaque" "callback")) @property

; What is said about a function stands above it.
(unary_operator operator: "@" operand: (call target: (identifier) @_about)
  (#any-of? @_about "doc" "typedoc" "spec" "impl" "deprecated" "since" "dialyzer")) @lead
