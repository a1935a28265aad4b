;; inherits: typescript
;; grammar: tsx
