--------------------------- MODULE AllExpressions ---------------------------
(* All expressions in one specification, because a model is made of one. *)
EXTENDS ArithmeticExpressions, BagExpressions, ComparisonExpressions,
  DifferentExpressions, EdgeExpressions, FailingExpressions,
  FunctionExpressions, LogicExpressions, OperatorExpressions,
  RecordExpressions, SequenceExpressions, SetExpressions, StringExpressions,
  TlcExpressions

VARIABLE item

Init == item = 0
Next == UNCHANGED item
=============================================================================
