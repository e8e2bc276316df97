------------------------------- MODULE Ledger --------------------------------
(* Accounts at banks: functions, and EXCEPT with @, paths and several updates. *)
EXTENDS Integers

CONSTANTS Bank, Account

VARIABLES money, total

Amount == 0..2

TypeOK ==
  /\ money \in [Bank -> [Account -> Amount]]
  /\ total \in [Bank -> Int]
  /\ \A b \in Bank : total[b] >= 0

Init ==
  /\ money = [b \in Bank |-> [a \in Account |-> 1]]
  /\ total = [b \in Bank |-> 2]

Transfer(b, from, to) ==
  /\ from # to
  /\ money[b][from] > 0 /\ money[b][to] + 1 \in Amount
  /\ money' = [money EXCEPT ![b][from] = @ - 1, ![b][to] = @ + 1]
  /\ UNCHANGED total

Deposit(b, a) ==
  /\ money[b][a] < 2
  /\ money' = [money EXCEPT ![b] = [@ EXCEPT ![a] = @ + 1]]
  /\ total' = [total EXCEPT ![b] = @ + 1]

Withdraw(b, a) ==
  /\ money[b][a] > 0
  /\ money' = [money EXCEPT ![b][a] = 0]
  /\ total' = [total EXCEPT ![b] = @ - money[b][a]]

\* The later update sees the earlier one.
Twice(b, a) ==
  /\ money[b][a] = 0
  /\ money' = [money EXCEPT ![b][a] = @ + 1, ![b][a] = @ + 1]
  /\ total' = [c \in DOMAIN total |-> IF c = b THEN total[c] + 2 ELSE total[c]]

Next ==
  \/ \E b \in Bank, from, to \in Account : Transfer(b, from, to)
  \/ \E b \in Bank : \E a \in Account : Deposit(b, a) \/ Withdraw(b, a)
  \/ \E b \in Bank, a \in Account : Twice(b, a)
==============================================================================
