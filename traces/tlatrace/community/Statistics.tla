----------------------------- MODULE Statistics ------------------------------
(* Tests of statistics.                                                       *)
(* What TLC does here is Java, and is not done: names and parameters only, so *)
(* that modules that use them for their output can be read.                   *)
LOCAL INSTANCE TLC

LOCAL None(what) == Assert(FALSE, <<what, "of Statistics has no value here">>)

ChiSquare(expected, actual, alpha) == None("ChiSquare")
==============================================================================
