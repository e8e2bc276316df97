------------------------------- MODULE Extrema -------------------------------
(* The smaller and the larger of two numbers, the least and the greatest of a finite set of them
   that is not empty.                                                                            *)
EXTENDS Integers

Min(a, b) == IF a <= b THEN a ELSE b
Max(a, b) == IF a <= b THEN b ELSE a
MinOf(S) == CHOOSE x \in S : \A y \in S : x <= y
MaxOf(S) == CHOOSE x \in S : \A y \in S : y <= x
=============================================================================
