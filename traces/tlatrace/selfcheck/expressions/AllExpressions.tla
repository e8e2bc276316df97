--------------------------- MODULE AllExpressions ---------------------------
(* All expressions in one specification, because a model is made of one. *)
EXTENDS ArithmeticExpressions, BagExpressions, CommunityExpressions,
  DifferentExpressions,
  EdgeExpressions, EqualityExpressions, FailingExpressions, FoldExpressions,
  FunctionExpressions, LogicExpressions, MembershipExpressions, OperandExpressions,
  MixedSetExpressions, OperatorExpressions, OrderExpressions,
  RecordExpressions, RelationExpressions, SequenceExpressions, SetExpressions, StringExpressions,
  TlcExpressions

VARIABLE item

Init == item = 0
Next == UNCHANGED item
=============================================================================
