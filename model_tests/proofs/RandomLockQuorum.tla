-------------------------- MODULE RandomLockQuorum --------------------------
(* LockQuorum from any state: nothing is bounded but how much time passes at once.               *)
EXTENDS LockQuorum

UpToThree == {1, 2, 3}
=============================================================================
