;; comments: //
;; block: /* */
;; attributes: #[ #![
;; separators: ::

(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name) @struct
(union_item name: (_) @name) @struct
(enum_item name: (_) @name) @enum
(enum_variant name: (_) @name) @constant
(trait_item name: (_) @name) @trait
(impl_item type: (_) @name) @impl
(mod_item name: (_) @name body: (_)) @module
(type_item name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
(macro_definition name: (_) @name) @macro

(use_declaration) @import
(mod_item !body) @import
(extern_crate_declaration) @import
