--------------------------------- MODULE Shop --------------------------------
(* Bags: goods on the shelf and in the cart. *)
EXTENDS Naturals, Bags

VARIABLES shelf, cart

Goods == {"tea", "rice"}

TypeOK ==
  /\ IsABag(shelf) /\ IsABag(cart)
  /\ BagCardinality(shelf (+) cart) <= 5
  /\ BagToSet(cart) \subseteq Goods
  /\ SetToBag(BagToSet(cart)) \sqsubseteq cart

Init ==
  /\ shelf = SetToBag(Goods) (+) SetToBag({"tea"})
  /\ cart = EmptyBag

Take(g) ==
  /\ BagIn(g, shelf)
  /\ shelf' = shelf (-) SetToBag({g})
  /\ cart' = cart (+) SetToBag({g})

Supply ==
  /\ BagCardinality(shelf (+) cart) < 5
  /\ \E g \in Goods : CopiesIn(g, shelf) = 0 /\ shelf' = shelf (+) SetToBag({g})
  /\ UNCHANGED cart

Buy == cart # EmptyBag /\ cart' = EmptyBag /\ UNCHANGED shelf

Return ==
  /\ CopiesIn("tea", cart) >= 2
  /\ shelf' = BagUnion({shelf, cart})
  /\ cart' = EmptyBag

Next == (\E g \in Goods : Take(g)) \/ Supply \/ Buy \/ Return
==============================================================================
