------------------------------ MODULE GraphViz -------------------------------
(* Graphs as text for GraphViz.                                               *)
(* What TLC does here is Java, and is not done: names and parameters only, so *)
(* that modules that use them for their output can be read.                   *)
LOCAL INSTANCE TLC

LOCAL None(what) == Assert(FALSE, <<what, "of GraphViz has no value here">>)

DotDiGraph(G, VL(_), EL(_)) == None("DotDiGraph")
==============================================================================
