--------------------------- MODULE UndirectedGraphs --------------------------
(* Graphs whose edges are sets of one node or two. Paths are looked for as in *)
(* Java, which lists no sequences.                                            *)
LOCAL INSTANCE Naturals
LOCAL INSTANCE Sequences
LOCAL INSTANCE FiniteSets
LOCAL INSTANCE Functions

UndirectedGraphs(S) == [node : {S}, edge : SUBSET {{a, b} : a, b \in S}]

IsUndirectedGraph(G) ==
  /\ G = [node |-> G.node, edge |-> G.edge]
  /\ \A e \in G.edge : \E a, b \in G.node : e = {a, b}
IsLoopFreeUndirectedGraph(G) ==
  /\ G = [node |-> G.node, edge |-> G.edge]
  /\ \A e \in G.edge : \E a, b \in G.node : a # b /\ e = {a, b}
UndirectedSubgraph(G) ==
  {H \in [node : SUBSET G.node, edge : SUBSET G.edge] : IsUndirectedGraph(H)}

LOCAL Beside(G, n) == {m \in G.node : {n, m} \in G.edge}
RECURSIVE Reached(_, _)
LOCAL Reached(G, S) ==
  LET more == S \cup UNION {Beside(G, n) : n \in S}
  IN  IF more = S THEN S ELSE Reached(G, more)

Path(G) ==
  {p \in Seq(G.node) :
    p # <<>> /\ \A i \in 1..(Len(p) - 1) : {p[i], p[i + 1]} \in G.edge}
RECURSIVE Longer(_, _)
LOCAL Longer(G, paths) ==
  LET more == UNION {{Append(p, n) : n \in Beside(G, p[Len(p)]) \ Range(p)} : p \in paths}
  IN  IF more = {} THEN paths ELSE paths \cup Longer(G, more)
SimplePath(G) == Longer(G, {<<n>> : n \in G.node})

AreConnectedIn(m, n, G) ==
  /\ m \in G.node
  /\ n \in G.node
  /\ n \in Reached(G, {m})
ConnectedComponents(G) == {Reached(G, {n}) : n \in G.node}
IsStronglyConnected(G) == ConnectedComponents(G) = {G.node}
==============================================================================
