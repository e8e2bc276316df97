--------------------------- MODULE AllExpressions ---------------------------
(* All expressions in one specification, because a model is made of one. *)
EXTENDS ArithmeticExpressions, BagExpressions, DifferentExpressions,
  EdgeExpressions, EqualityExpressions, FailingExpressions,
  FunctionExpressions, LogicExpressions, MembershipExpressions,
  MixedSetExpressions, OperatorExpressions,
  RecordExpressions, SequenceExpressions, SetExpressions, StringExpressions,
  TlcExpressions

VARIABLE item

Init == item = 0
Next == UNCHANGED item
=============================================================================
