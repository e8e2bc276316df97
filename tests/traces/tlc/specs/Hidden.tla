---- MODULE Hidden ----
EXTENDS Integers
LOCAL INSTANCE Sequences
VARIABLE x
LOCAL Foo == 1
Init == x = <<>>
A(i) == x' = Append(x, i)
Next == \/ \E i \in 1..Len(x) : A(i)
        \/ x = <<>> /\ A(Foo)
====
