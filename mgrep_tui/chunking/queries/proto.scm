;; comments: //
;; block: /* */
;; body: message_body enum_body

(message (message_name) @name) @struct
(enum (enum_name) @name) @enum
(enum_field . (identifier) @name) @constant
(service (service_name) @name) @interface
(rpc (rpc_name) @name) @method
(extend (full_ident) @name) @impl

(source_file (syntax) @import)
(source_file (package) @import)
(source_file (import) @import)
(source_file (option) @import)
