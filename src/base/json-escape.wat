;; Escapes text for JSON, sixteen bytes at a time. `json-escape.ts` fills the memory and reads the result.
;;
;; Each turn copies sixteen bytes as they are, keeps those before the first one that JSON writes differently, and writes that one by the
;; table. What stands behind the text is copied too and not counted; it may hold nothing that is escaped.
;;
;; Memory, in bytes:
;;   0x0000  256 entries of eight by byte: how JSON writes it (up to six bytes), and in the last one how many those are
;;   0x0800  the text in UTF-8, with sixteen bytes of padding behind it
;;   0x9000  the escaped text
(module
  (memory (export "memory") 2 2)

  ;; Escapes `length` bytes. Gives the number of bytes that they became.
  (func (export "run") (param $length i32) (result i32)
    (local $at i32) (local $out i32) (local $next i32) (local $bytes v128)
    (loop $turn
      (v128.store offset=0x9000 (local.get $out) (local.tee $bytes (v128.load offset=0x0800 (local.get $at))))
      (local.set $next (i32.ctz (i32.or (i32.const 0x10000) (i8x16.bitmask (v128.or (v128.or
        (i8x16.lt_u (local.get $bytes) (v128.const i64x2 0x2020202020202020 0x2020202020202020))
        (i8x16.eq (local.get $bytes) (v128.const i64x2 0x2222222222222222 0x2222222222222222)))
        (i8x16.eq (local.get $bytes) (v128.const i64x2 0x5c5c5c5c5c5c5c5c 0x5c5c5c5c5c5c5c5c)))))))
      (local.set $at (i32.add (local.get $at) (local.get $next)))
      (local.set $out (i32.add (local.get $out) (local.get $next)))
      (if (i32.lt_u (local.get $next) (i32.const 16)) (then
        (local.set $next (i32.shl (i32.load8_u offset=0x0800 (local.get $at)) (i32.const 3)))
        (i64.store offset=0x9000 (local.get $out) (i64.load (local.get $next)))
        (local.set $out (i32.add (local.get $out) (i32.load8_u offset=7 (local.get $next))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))))
      (br_if $turn (i32.lt_u (local.get $at) (local.get $length))))
    (i32.sub (local.get $out) (i32.sub (local.get $at) (local.get $length)))))
