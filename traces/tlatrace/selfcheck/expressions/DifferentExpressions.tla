------------------------ MODULE DifferentExpressions -------------------------
(* Where the model and TLC are meant to differ; the reasons are in the table of differences. *)
EXTENDS Integers, Sequences

Different01 == 2147483647 + 1
Different02 == -2147483647 - 2
Different03 == 65536 * 65536
Different04 == 2^31
Different05 == CHOOSE x \in {1, 2} : TRUE
==============================================================================
