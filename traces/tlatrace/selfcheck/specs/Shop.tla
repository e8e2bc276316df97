--------------------------------- MODULE Shop --------------------------------
(* Bags: goods on the shelf and in the cart. *)
EXTENDS Naturals, Bags

VARIABLES shelf, cart

Goods == {"tea", "rice"}

\* TLC refuses to add what is no bag; what is a bag is written out, because TLC does not look at the
\* text of IsABag.
IsSound(bag) ==
  /\ DOMAIN bag \subseteq Goods
  /\ \A g \in DOMAIN bag : bag[g] \in 1..5
  /\ IsABag(bag)
Sound == IsSound(shelf) /\ IsSound(cart)

TypeOK ==
  /\ Sound
  /\ BagCardinality(shelf (+) cart) <= 5
  /\ BagToSet(cart) \subseteq Goods
  /\ SetToBag(BagToSet(cart)) \sqsubseteq cart

Init ==
  /\ shelf = SetToBag(Goods) (+) SetToBag({"tea"})
  /\ cart = EmptyBag

Take(g) ==
  /\ Sound
  /\ BagIn(g, shelf)
  /\ shelf' = shelf (-) SetToBag({g})
  /\ cart' = cart (+) SetToBag({g})

Supply ==
  /\ Sound
  /\ BagCardinality(shelf (+) cart) < 5
  /\ \E g \in Goods : CopiesIn(g, shelf) = 0 /\ shelf' = shelf (+) SetToBag({g})
  /\ UNCHANGED cart

Buy == cart # EmptyBag /\ cart' = EmptyBag /\ UNCHANGED shelf

Return ==
  /\ Sound
  /\ CopiesIn("tea", cart) >= 2
  /\ shelf' = BagUnion({shelf, cart})
  /\ cart' = EmptyBag

Next == (\E g \in Goods : Take(g)) \/ Supply \/ Buy \/ Return
==============================================================================
