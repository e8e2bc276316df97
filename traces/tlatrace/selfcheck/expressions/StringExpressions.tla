-------------------------- MODULE StringExpressions --------------------------
(* Strings, compared and used as keys. *)
EXTENDS Integers, Sequences

Text01 == "a"
Text02 == ""
Text03 == "two words"
Text04 == "quote \" and backslash \\"
Text05 == "a" = "a"
Text06 == "a" = "A"
Text07 == "a" # "b"
Text08 == "a" \in {"a", "b"}
Text09 == "a" \in STRING
Text10 == {"x", "y", "x"}
Text11 == [w \in {"one", "two"} |-> w]
Text12 == <<"a", <<"b">>>>
Text13 == {"TRUE", "1", "{}"}
Text14 == "1" \in STRING \cap {"1", "2"}
Text15 == {"a"} \subseteq STRING
==============================================================================
