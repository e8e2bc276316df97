--------------------------- MODULE FalseRefinement ---------------------------
(* Mutants of DLedger, which do not refine ElectedLogs.                                          *)
EXTENDS MCElectedLogs, MutDLedger
=============================================================================
