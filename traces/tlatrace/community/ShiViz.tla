------------------------------- MODULE ShiViz --------------------------------
(* A counterexample as text for ShiViz.                                       *)
(* What TLC does here is Java, and is not done: names and parameters only, so *)
(* that modules that use them for their output can be read.                   *)
LOCAL INSTANCE TLC

LOCAL None(what) == Assert(FALSE, <<what, "of ShiViz has no value here">>)

Host == None("Host")
Clock == None("Clock")
==============================================================================
