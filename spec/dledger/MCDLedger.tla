------------------------------ MODULE MCDLedger ------------------------------
(* Finite models of DLedger: what they explore, and their symmetry. *)
EXTENDS DLedgerProperties, TLC

CONSTANTS
  MaxTerm,       \* the largest term
  MaxLog,        \* entries in a log
  MaxCrash,      \* power cuts in all
  MaxAsks,       \* different requests for votes in all
  MaxSnapshot,   \* index of the largest snapshot; 0: there is none
  MaxTransfer    \* leadership that is handed over

\* Next quantifies over Nat; a finite part of it stands here.
MCNat == 0..(MaxTerm + MaxLog + MaxCrash)

Crashes == Cardinality({x \in Node \X (1..MaxCrash) : x[2] <= inc[x[1]]})

Bounded(action, n) ==
  CASE action = "IncreaseTerm" -> NextTerm(n) <= MaxTerm
    [] action = "AskVotes" -> AskOf(n) \in asks \/ Cardinality(asks) < MaxAsks
    [] action = "BecomeCandidate" -> term[n] < MaxTerm /\ Cardinality(asks) < MaxAsks
    [] action = "AppendAsLeader" -> End(n) < MaxLog
    [] action = "Crash" -> Crashes < MaxCrash
    [] action = "Unsynced" -> MaxCrash > 0
    [] action = "SaveSnapshot" -> applied[n] <= MaxSnapshot
    [] action = "Apply" -> applied[n] < MaxSnapshot
    [] action = "TransferLeadership" -> Cardinality(transfers) < MaxTransfer
    [] action \in {"EarlierMatch", "IdleTruncate", "Says", "Discard"} -> FALSE
    [] OTHER -> TRUE

\* Fewer: only a leader that has written all loses power, and nobody else gives up.
Few(action, n) ==
  /\ Bounded(action, n)
  /\ action = "Crash" => role[n] = "Leader" /\ End(n) = MaxLog
  /\ action # "BecomeCandidate"

\* Logs are thrown away in the place of power cuts.
Discarding(action, n) ==
  CASE action = "Discard" -> Crashes < MaxCrash /\ End(n) > 0 /\ TermAfterDiscard(n) <= MaxTerm
    [] action \in {"Crash", "Unsynced", "BecomeCandidate"} -> FALSE
    [] OTHER -> Bounded(action, n)

\* More: requests to compare and to cut as they may be late.
Late(action, n) == action \in {"EarlierMatch", "IdleTruncate"} \/ Few(action, n)

\* ---- For liveness ----

\* Some, the same in all states: TLC takes no symmetry where it looks at behaviours.
First == CHOOSE n \in Node : TRUE
Two == CHOOSE S \in SUBSET Node : Cardinality(S) = 2
OtherTwo == CHOOSE S \in SUBSET Node : Cardinality(S) = 2 /\ S # Two

CanWin(n) == Quorum({m \in Connected : RefusesLog(m, AskOf(n)) = "ACCEPT"})

\* Two may ask for votes in a term before the last.  The last is one of peace: of those whose log is long
\* enough, the times that they wait let one ask for votes before the others do.
Peaceful(action, n) ==
  CASE action = "AskVotes" ->
         IF term[n] < MaxTerm THEN n \in Two
         ELSE n \in Connected /\ CanWin(n) /\ \A a \in asks : a.term = MaxTerm /\ CanWin(a.from) => a.from = n
    [] action = "BecomeCandidate" -> LostLeader(n)
    [] action = "Crash" -> FALSE
    [] OTHER -> Bounded(action, n)

\* The same with one that leads the first term.
HandingOver(action, n) ==
  IF action = "AskVotes" /\ term[n] < MaxTerm THEN n = First ELSE Peaceful(action, n)

\* One leads all terms, and gives up when who has thrown its log away has it again.
Refilling(action, n) ==
  CASE action = "BecomeCandidate" -> Bounded(action, n) /\ \E m \in Node : refill[m] > 0 /\ MayVote(m)
    [] action = "AskVotes" -> Bounded(action, n) /\ n = First
    [] action = "Discard" -> Discarding(action, n) /\ n # First
    [] OTHER -> Discarding(action, n)

\* One leads the only term, and takes snapshots; a follower may lose power.
Led(action, n) ==
  CASE action \in {"AskVotes", "Apply"} -> n = First /\ Bounded(action, n)
    [] action = "BecomeCandidate" -> FALSE
    [] action = "Crash" -> role[n] = "Follower" /\ Bounded(action, n)
    [] OTHER -> Bounded(action, n)

\* A round that needs answers waits for them, and in the last term for all.
AwaitsAll(n, S) ==
  \/ Connected \subseteq S
  \/ term[n] < MaxTerm /\ Parsed(n, S) # "WAIT_TO_REVOTE"

\* A request comes as long as somebody waits for an answer, and once.  Who leads no more, or cannot be
\* reached, keeps nobody from another leader, neither by heartbeats nor by answers to requests for votes.
Present(message, m) ==
  IF message \in asks
  THEN /\ round[message.from] # NoRound /\ message = AskOf(message.from) /\ round[message.from][m] = NoAnswer
       /\ m \in Connected \/ role[m] # "Leader"
  ELSE IF message \in transfers THEN transferee[message.from] = m
  ELSE /\ message.by \in Connected
       /\ role[message.by] = "Leader" /\ term[message.by] = message.term

Symmetry == Permutations(Node)
=============================================================================
