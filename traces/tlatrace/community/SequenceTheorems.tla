-------------------------- MODULE SequenceTheorems ---------------------------
(* The names of theorems on sequences, for modules that hold proofs:          *)
(* nothing is proved or evaluated here.                                       *)
EXTENDS Sequences, Functions

THEOREM SeqDef == TRUE
THEOREM SeqMonotonic == TRUE
THEOREM ElementOfSeq == TRUE
THEOREM EmptySeq == TRUE
THEOREM LenProperties == TRUE
THEOREM IsASeq == TRUE
THEOREM ExceptSeq == TRUE
THEOREM SeqEqual == TRUE
THEOREM ConcatProperties == TRUE
THEOREM ConcatEmptySeq == TRUE
THEOREM ConcatEqualIffEmpty == TRUE
THEOREM ConcatAssociative == TRUE
THEOREM ConcatSimplifications == TRUE
THEOREM SubSeqProperties == TRUE
THEOREM SubSeqEmpty == TRUE
THEOREM SubSeqRange == TRUE
THEOREM HeadTailProperties == TRUE
THEOREM TailIsSubSeq == TRUE
THEOREM SubSeqRestrict == TRUE
THEOREM HeadTailOfSubSeq == TRUE
THEOREM SubSeqRecursive == TRUE
THEOREM SubSeqOfSubSeq == TRUE
THEOREM ConcatAdjacentSubSeq == TRUE
THEOREM SubSeqOfConcat1 == TRUE
THEOREM SubSeqOfConcat2 == TRUE
THEOREM AppendProperties == TRUE
THEOREM AppendIsConcat == TRUE
THEOREM HeadTailAppend == TRUE
THEOREM AppendInjective == TRUE
THEOREM SequenceEmptyOrAppend == TRUE
THEOREM SequencesInductionAppend == TRUE
THEOREM SequencesInductionTail == TRUE
THEOREM RangeOfSeq == TRUE
THEOREM RangeEquality == TRUE
THEOREM SeqOfRange == TRUE
THEOREM RangeConcatenation == TRUE
THEOREM EmptySingletonIsInjective == TRUE
THEOREM ConcatInjectiveSeq == TRUE
THEOREM AppendInjectiveSeq == TRUE
THEOREM TailInjectiveSeq == TRUE
==============================================================================
