;; block: <!-- -->

(element (start_tag (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)) (#eq? @_id "id"))) @section
((script_element) @section (#set! name "script"))
((style_element) @section (#set! name "style"))
