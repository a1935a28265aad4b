;; comments: //

(Decl (FnProto function: (IDENTIFIER) @name) (Block)? @body) @function
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name
  (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType ["struct" "opaque"])))))) @struct
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name
  (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType ["enum" "union"])))))) @enum
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name)) @constant
(TestDecl (STRINGLITERALSINGLE) @name) @function
(TestDecl (IDENTIFIER) @name) @function
