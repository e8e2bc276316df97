---------------------------- MODULE SequencesExt -----------------------------
(* More operators on sequences. Where Java and the published text differ,     *)
(* the definitions here say what Java does: see spec/SUBSET.md.               *)
EXTENDS Sequences, Naturals, FiniteSets, FiniteSetsExt, Folds, Functions, Bags, TLC

ToSet(s) == {s[i] : i \in DOMAIN s}
ToBag(s) == [x \in ToSet(s) |-> Cardinality({i \in DOMAIN s : s[i] = x})]

(* Java: in the order of TLC, ascending for integers.                         *)
SetToSeq(S) == FoldSet(LAMBDA x, s : Append(s, x), <<>>, S)
SetToSeqs(S) ==
  LET of[T \in SUBSET S] ==
        IF T = {}
        THEN {<<>>}
        ELSE UNION {{Append(s, x) : s \in of[T \ {x}]} : x \in T}
  IN  of[S]
SetToSortSeq(S, op(_, _)) == SortSeq(SetToSeq(S), op)
SetToAllKPermutations(S) == UNION {SetToSeqs(T) : T \in SUBSET S}

TupleOf(set, n) == [1..n -> set]
SeqOf(set, n) == UNION {[1..k -> set] : k \in 0..n}
BoundedSeq(S, n) == SeqOf(S, n)

------------------------------------------------------------------------------
(* Folds: of sequences only, as in Java.                                      *)

FoldSeq(op(_, _), base, seq) == FoldFunction(op, base, seq)
FoldLeft(op(_, _), base, seq) ==
  LET upto[n \in 0..Len(seq)] ==
        IF n = 0 THEN base ELSE op(upto[n - 1], seq[n])
  IN  upto[Len(seq)]
FoldRight(op(_, _), seq, base) ==
  LET from[n \in 1..(Len(seq) + 1)] ==
        IF n > Len(seq) THEN base ELSE op(seq[n], from[n + 1])
  IN  from[1]
FoldLeftDomain(op(_, _), base, seq) == FoldLeft(op, base, [i \in 1..Len(seq) |-> i])
FoldRightDomain(op(_, _), seq, base) == FoldRight(op, [i \in 1..Len(seq) |-> i], base)

------------------------------------------------------------------------------
(* Looking for an element. Java stops at the first that it finds, and has     *)
(* the index in the whole sequence.                                           *)

Contains(s, e) == \E i \in 1..Len(s) : s[i] = e
IsSorted(s, op(_, _)) == \A i, j \in 1..Len(s) : i < j => op(s[i], s[j])

LOCAL Within(seq, from, to) ==
  (1 <= from /\ from <= Len(seq) /\ 1 <= to /\ to <= Len(seq))
LOCAL Upwards(seq, from, to, Test(_)) ==
  LET at[i \in from..(to + 1)] ==
        IF i > to THEN 0 ELSE IF Test(seq[i]) THEN i ELSE at[i + 1]
  IN  at[from]
LOCAL Downwards(seq, from, to, Test(_)) ==
  LET at[i \in (from - 1)..to] ==
        IF i < from THEN 0 ELSE IF Test(seq[i]) THEN i ELSE at[i - 1]
  IN  at[to]

SelectInSeq(seq, Test(_)) == Upwards(seq, 1, Len(seq), Test)
SelectLastInSeq(seq, Test(_)) == Downwards(seq, 1, Len(seq), Test)
SelectInSubSeq(seq, from, to, Test(_)) ==
  IF Len(seq) >= 0 /\ from > to THEN 0
  ELSE IF Within(seq, from, to) THEN Upwards(seq, from, to, Test)
  ELSE Assert(FALSE, "SelectInSubSeq outside of the sequence")
SelectLastInSubSeq(seq, from, to, Test(_)) ==
  IF Len(seq) >= 0 /\ from > to THEN 0
  ELSE IF Within(seq, from, to) THEN Downwards(seq, from, to, Test)
  ELSE Assert(FALSE, "SelectLastInSubSeq outside of the sequence")

------------------------------------------------------------------------------
(* Changing a sequence.                                                       *)

Reverse(s) == [i \in 1..Len(s) |-> s[Len(s) + 1 - i]]
Remove(s, e) == SelectSeq(s, LAMBDA x : x # e)
ReplaceAll(s, old, new) == [i \in 1..Len(s) |-> IF s[i] = old THEN new ELSE s[i]]
InsertAt(s, i, e) == Append(SubSeq(s, 1, i - 1), e) \o SubSeq(s, i, Len(s))
ReplaceAt(s, i, e) == [s EXCEPT ![i] = e]
RemoveAt(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))
RemoveFirstMatch(s, Test(_)) ==
  LET i == SelectInSeq(s, Test) IN IF i = 0 THEN s ELSE RemoveAt(s, i)
RemoveFirst(s, e) == RemoveFirstMatch(s, LAMBDA x : x = e)
Cons(elt, seq) == <<elt>> \o seq
Snoc(elt, seq) == Append(seq, elt)
Front(s) == SubSeq(s, 1, Len(s) - 1)
Last(s) == s[Len(s)]

------------------------------------------------------------------------------
(* Prefixes, suffixes, subsequences.                                          *)

IsPrefix(s, t) == Len(s) <= Len(t) /\ SubSeq(s, 1, Len(s)) = SubSeq(t, 1, Len(s))
IsStrictPrefix(s, t) == IsPrefix(s, t) /\ s # t
IsSuffix(s, t) == IsPrefix(Reverse(s), Reverse(t))
IsStrictSuffix(s, t) == IsSuffix(s, t) /\ s # t
Prefixes(s) == {SubSeq(s, 1, n) : n \in 0..Len(s)}
Suffixes(s) == {SubSeq(s, n, Len(s)) : n \in 1..(Len(s) + 1)}
CommonPrefixes(S) ==
  {p \in UNION {Prefixes(s) : s \in S} : \A s \in S : IsPrefix(p, s)}
LongestCommonPrefix(S) ==
  CHOOSE p \in CommonPrefixes(S) : \A q \in CommonPrefixes(S) : Len(q) <= Len(p)
SubSeqs(s) == {SubSeq(s, i + 1, j) : i, j \in 0..Len(s)}
AllSubSeqs(s) ==
  LET upto[n \in 0..Len(s)] ==
        IF n = 0
        THEN {<<>>}
        ELSE upto[n - 1] \cup {Append(p, s[n]) : p \in upto[n - 1]}
  IN  upto[Len(s)]

------------------------------------------------------------------------------
(* Several sequences.                                                         *)

SeqMod(a, b) == IF a % b = 0 THEN b ELSE a % b
FlattenSeq(seqs) ==
  IF Len(seqs) = 0 THEN seqs
  ELSE FoldLeft(LAMBDA all, s : all \o s, seqs[1], Tail(seqs))
Zip(s, t) ==
  [i \in 1..(IF Len(s) <= Len(t) THEN Len(s) ELSE Len(t)) |-> <<s[i], t[i]>>]
Interleave(s, t) ==
  IF Len(s) # Len(t) THEN Assert(FALSE, "Interleave of sequences of two lengths")
  ELSE IF Len(s) = 0 THEN <<<<>>, <<>>>>
  ELSE [i \in 1..(2 * Len(s)) |->
         IF i % 2 = 1 THEN <<s[(i + 1) \div 2]>> ELSE <<t[i \div 2]>>]

------------------------------------------------------------------------------
(* Replacing a part of a sequence, or of a string.                            *)

LOCAL StandsAt(s, t, i) == SubSeq(t, i, i + Len(s) - 1) = s
LOCAL IsString(t) == ToString(SubSeq(t, 1, 0)) = "\"\""

IndexFirstSubSeq(s, t) ==
  CHOOSE i \in 1..(Len(t) - Len(s) + 1) :
    StandsAt(s, t, i) /\ \A j \in 1..(i - 1) : ~StandsAt(s, t, j)
ReplaceSubSeqAt(i, r, s, t) ==
  SubSeq(t, 1, i - 1) \o r \o SubSeq(t, i + Len(s), Len(t))
ReplaceFirstSubSeq(r, s, t) ==
  IF \E i \in 1..(Len(t) - Len(s) + 1) : StandsAt(s, t, i)
  THEN ReplaceSubSeqAt(IndexFirstSubSeq(s, t), r, s, t)
  ELSE t

(* From the left. Of sequences, but not of strings, TLC takes one choice of   *)
(* those places that overlap: none here.                                      *)
ReplaceAllSubSeqs(r, s, t) ==
  LET n == Len(s)
      found == {i \in 1..(Len(t) - n + 1) : StandsAt(s, t, i)}
      overlap == \E i, j \in found : i < j /\ j < i + n
      from[i \in 1..(Len(t) + 1)] ==
        IF i > Len(t) THEN SubSeq(t, 1, 0)
        ELSE IF i \in found THEN r \o from[i + n]
        ELSE SubSeq(t, i, i) \o from[i + 1]
      before[i \in 1..(Len(t) + 1)] ==
        IF i > Len(t) THEN SubSeq(t, 1, 0) ELSE r \o SubSeq(t, i, i) \o before[i + 1]
  IN  IF s = t THEN r
      ELSE IF r = s THEN t
      ELSE IF n = 0 THEN before[1]
      ELSE IF overlap /\ ~IsString(t)
      THEN Assert(FALSE, "ReplaceAllSubSeqs: places that overlap")
      ELSE from[1]
==============================================================================
