;; inherits: javascript
