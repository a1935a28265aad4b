;; block: <!-- -->

((script_element) @section (#set! name "script"))
((style_element) @section (#set! name "style"))
