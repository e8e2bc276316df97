--------------------------- MODULE BagExpressions ----------------------------
(* The module Bags. *)
EXTENDS Integers, Sequences, FiniteSets, TLC, Bags

two == ("a" :> 2 @@ "b" :> 1)
one == ("a" :> 1)

Bag01 == EmptyBag
Bag02 == EmptyBag = <<>>
Bag03 == SetToBag({"a", "b"})
Bag04 == SetToBag({})
Bag05 == BagToSet(two)
Bag06 == BagToSet(EmptyBag)
Bag07 == IsABag(two)
Bag08 == IsABag([a |-> 0])
Bag09 == IsABag([a |-> -1])
Bag10 == IsABag(EmptyBag)
Bag11 == BagIn("a", two)
Bag12 == BagIn("c", two)
Bag13 == CopiesIn("a", two)
Bag14 == CopiesIn("c", two)
Bag15 == two (+) one
Bag16 == two (+) EmptyBag
Bag17 == two (+) ("c" :> 5)
Bag18 == two (-) one
Bag19 == two (-) two
Bag20 == one (-) two
Bag21 == two (-) ("c" :> 1)
Bag22 == one \sqsubseteq two
Bag23 == two \sqsubseteq one
Bag24 == EmptyBag \sqsubseteq EmptyBag
Bag25 == BagCardinality(two)
Bag26 == BagCardinality(EmptyBag)
Bag27 == BagUnion({one, two})
Bag28 == BagUnion({})
Bag29 == BagOfAll(LAMBDA x : <<x>>, two)
Bag30 == SubBag(one)
Bag31 == Cardinality(SubBag(two))
Bag32 == SetToBag({1, 2}) = <<1, 1>>
Bag33 == BagToSet(SetToBag(1..3) (+) SetToBag(2..4))
==============================================================================
