;; Finds the places of a text where a keyword of a redaction rule may stand, sixteen characters at a time. `prefilter.ts`
;; fills the memory and reads the places; `prefilter-tables.ts` makes the tables. What is found here is looked at again by
;; the automaton: a place too many costs time, a place too few would show a secret.
;;
;; A place is kept if (a) sixteen characters of the kind that tokens are made of begin there, or its first three characters
;; fit one of sixteen groups of keywords, and (b) its first four characters can be those of a keyword.
;;
;; Memory, in bytes:
;;   0x00000  32,768 entries by hash of three characters: in which classes of keywords they begin one, as bits
;;   0x08000  256 entries by character: in which of those classes it may be the fourth one
;;   0x08100  the groups, as pairs of tables by low and by high half of a character, with a bit for each group:
;;            characters 1, 2 and 3 for groups 0 to 7, the same for groups 8 to 15
;;   0x081c0  the characters of tokens, by low half a bit for each high half; 0x081d0 those bits
;;   0x10000  the text in UTF-16, with at least 64 characters more behind it
;;   0x19000  the same with one byte for each character, 255 for all that are not ASCII
;;   0x1e000  the places, two bytes each
(module
  (memory (export "memory") 3 3)

  ;; Makes bytes of `length` characters and searches them. Gives the number of places; -1 if there is a null character.
  (func (export "run") (param $length i32) (result i32)
    (local $at i32) (local $all v128) (local $nulls v128) (local $255 v128) (local $15 v128)
    (local $low v128) (local $high v128) (local $first v128) (local $second v128)
    (local $token i32) (local $tokenBefore i32) (local $start i32) (local $startBefore i32)
    (local $run i32) (local $kept i32) (local $count i32) (local $place i32)

    (local.set $255 (i16x8.splat (i32.const 255)))
    (local.set $15 (i8x16.splat (i32.const 15)))

    ;; one byte for each character
    (loop $next
      (local.set $all (i8x16.narrow_i16x8_u
        (i16x8.min_u (v128.load offset=0x10000 (i32.shl (local.get $at) (i32.const 1))) (local.get $255))
        (i16x8.min_u (v128.load offset=0x10010 (i32.shl (local.get $at) (i32.const 1))) (local.get $255))))
      (local.set $nulls (v128.or (local.get $nulls) (i8x16.eq (local.get $all) (v128.const i64x2 0 0))))
      (v128.store offset=0x19000 (local.get $at) (v128.or (local.get $all) (i8x16.lt_s (local.get $all) (v128.const i64x2 0 0))))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (i32.add (local.get $length) (i32.const 48)))))
    (if (v128.any_true (local.get $nulls)) (then (return (i32.const -1))))

    ;; sixteen characters a turn; those of the turn before are judged once their followers are known
    (local.set $at (i32.const 0))
    (loop $next
      (local.set $all (v128.load offset=0x19000 (local.get $at)))
      (local.set $low (v128.and (local.get $all) (local.get $15)))
      (local.set $high (v128.and (i16x8.shr_u (local.get $all) (i32.const 4)) (local.get $15)))
      (local.set $token (i8x16.bitmask (i8x16.ne (v128.const i64x2 0 0) (v128.and
        (i8x16.relaxed_swizzle (v128.load offset=0x081c0 (i32.const 0)) (local.get $low))
        (i8x16.relaxed_swizzle (v128.load offset=0x081d0 (i32.const 0)) (local.get $high))))))
      (local.set $first (v128.and
        (i8x16.relaxed_swizzle (v128.load offset=0x08100 (i32.const 0)) (local.get $low))
        (i8x16.relaxed_swizzle (v128.load offset=0x08110 (i32.const 0)) (local.get $high))))
      (local.set $second (v128.and
        (i8x16.relaxed_swizzle (v128.load offset=0x08160 (i32.const 0)) (local.get $low))
        (i8x16.relaxed_swizzle (v128.load offset=0x08170 (i32.const 0)) (local.get $high))))
      (local.set $all (v128.load offset=0x19001 (local.get $at)))
      (local.set $low (v128.and (local.get $all) (local.get $15)))
      (local.set $high (v128.and (i16x8.shr_u (local.get $all) (i32.const 4)) (local.get $15)))
      (local.set $first (v128.and (local.get $first) (v128.and
        (i8x16.relaxed_swizzle (v128.load offset=0x08120 (i32.const 0)) (local.get $low))
        (i8x16.relaxed_swizzle (v128.load offset=0x08130 (i32.const 0)) (local.get $high)))))
      (local.set $second (v128.and (local.get $second) (v128.and
        (i8x16.relaxed_swizzle (v128.load offset=0x08180 (i32.const 0)) (local.get $low))
        (i8x16.relaxed_swizzle (v128.load offset=0x08190 (i32.const 0)) (local.get $high)))))
      (local.set $all (v128.load offset=0x19002 (local.get $at)))
      (local.set $low (v128.and (local.get $all) (local.get $15)))
      (local.set $high (v128.and (i16x8.shr_u (local.get $all) (i32.const 4)) (local.get $15)))
      (local.set $first (v128.and (local.get $first) (v128.and
        (i8x16.relaxed_swizzle (v128.load offset=0x08140 (i32.const 0)) (local.get $low))
        (i8x16.relaxed_swizzle (v128.load offset=0x08150 (i32.const 0)) (local.get $high)))))
      (local.set $second (v128.and (local.get $second) (v128.and
        (i8x16.relaxed_swizzle (v128.load offset=0x081a0 (i32.const 0)) (local.get $low))
        (i8x16.relaxed_swizzle (v128.load offset=0x081b0 (i32.const 0)) (local.get $high)))))
      (local.set $start (i8x16.bitmask (i8x16.ne (v128.const i64x2 0 0) (v128.or (local.get $first) (local.get $second)))))

      ;; where sixteen characters of tokens begin: the ones of this turn stand above those of the turn before
      (local.set $run (i32.or (local.get $tokenBefore) (i32.shl (local.get $token) (i32.const 16))))
      (local.set $run (i32.and (local.get $run) (i32.shr_u (local.get $run) (i32.const 1))))
      (local.set $run (i32.and (local.get $run) (i32.shr_u (local.get $run) (i32.const 2))))
      (local.set $run (i32.and (local.get $run) (i32.shr_u (local.get $run) (i32.const 4))))
      (local.set $run (i32.and (local.get $run) (i32.shr_u (local.get $run) (i32.const 8))))
      (local.set $kept (i32.or (i32.and (local.get $run) (i32.const 0xffff)) (local.get $startBefore)))

      ;; two places are written whether there are so many or not, because branches that nobody can predict cost more
      (local.set $place (local.get $count))
      (local.set $count (i32.add (local.get $count) (i32.shl (i32.popcnt (local.get $kept)) (i32.const 1))))
      (i32.store16 offset=0x1e000 (local.get $place) (i32.add (local.get $at) (i32.ctz (local.get $kept))))
      (local.set $kept (i32.and (local.get $kept) (i32.sub (local.get $kept) (i32.const 1))))
      (i32.store16 offset=0x1e002 (local.get $place) (i32.add (local.get $at) (i32.ctz (local.get $kept))))
      (if (local.tee $kept (i32.and (local.get $kept) (i32.sub (local.get $kept) (i32.const 1)))) (then
        (loop $more
          (i32.store16 offset=0x1e004 (local.get $place) (i32.add (local.get $at) (i32.ctz (local.get $kept))))
          (local.set $place (i32.add (local.get $place) (i32.const 2)))
          (br_if $more (local.tee $kept (i32.and (local.get $kept) (i32.sub (local.get $kept) (i32.const 1))))))))

      (local.set $tokenBefore (local.get $token))
      (local.set $startBefore (local.get $start))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (i32.add (local.get $length) (i32.const 16)))))

    ;; of those, the ones whose first four characters may be those of a keyword; they were counted from the turn after theirs
    (local.set $kept (i32.const 0))
    (if (local.get $count) (then
      (local.set $place (i32.const 0))
      (loop $next
        (local.set $at (i32.load16_u offset=0x1e000 (local.get $place)))
        (i32.store16 offset=0x1e000 (local.get $kept) (i32.sub (local.get $at) (i32.const 16)))
        (local.set $kept (i32.add (local.get $kept) (i32.shl (i32.ne (i32.const 0) (i32.and
          (i32.load8_u (i32.shr_u
            (i32.mul (i32.load offset=0x18ff0 align=1 (local.get $at)) (i32.const 0x3779b100))
            (i32.const 17)))
          (i32.load8_u offset=0x08000 (i32.load8_u offset=0x18ff3 (local.get $at)))))
          (i32.const 1))))
        (br_if $next (i32.lt_u (local.tee $place (i32.add (local.get $place) (i32.const 2))) (local.get $count))))))
    (i32.shr_u (local.get $kept) (i32.const 1))))
