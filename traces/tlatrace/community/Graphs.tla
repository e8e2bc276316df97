-------------------------------- MODULE Graphs -------------------------------
(* Directed graphs: records of a set `node` and a set `edge` of pairs. Paths  *)
(* are looked for as in Java, which lists no sequences: an edge that is no    *)
(* pair of nodes counts for nothing.                                          *)
EXTENDS Naturals, Sequences, FiniteSets, SequencesExt, Relation

EmptyGraph == [node |-> {}, edge |-> {}]
Graphs(S) == [node : {S}, edge : SUBSET (S \X S)]

IsDirectedGraph(G) ==
  G = [node |-> G.node, edge |-> G.edge] /\ G.edge \subseteq G.node \X G.node
IsUndirectedGraph(G) ==
  IsDirectedGraph(G) /\ \A e \in G.edge : <<e[2], e[1]>> \in G.edge
DirectedSubgraph(G) ==
  {H \in [node : SUBSET G.node, edge : SUBSET G.edge] : IsDirectedGraph(H)}
UndirectedSubgraph(G) == {H \in DirectedSubgraph(G) : IsUndirectedGraph(H)}
Transpose(G) == [node |-> G.node, edge |-> {<<e[2], e[1]>> : e \in G.edge}]
GraphUnion(G, H) == [node |-> G.node \cup H.node, edge |-> G.edge \cup H.edge]

Successors(G, n) == {m \in G.node : <<n, m>> \in G.edge}
Predecessors(G, n) == {m \in G.node : <<m, n>> \in G.edge}
AllSuccessors(G, S) == UNION {Successors(G, n) : n \in S}
AllPredecessors(G, S) == UNION {Predecessors(G, n) : n \in S}
InDegree(G, n) == Cardinality(Predecessors(G, n))
OutDegree(G, n) == Cardinality(Successors(G, n))
Roots(G) == {n \in G.node : Predecessors(G, n) = {}}
Leaves(G) == {n \in G.node : Successors(G, n) = {}}

(* The nodes that can be reached from those of S, which are among them.       *)
RECURSIVE Reached(_, _)
LOCAL Reached(G, S) ==
  LET more == S \cup AllSuccessors(G, S) IN IF more = S THEN S ELSE Reached(G, more)

Path(G) ==
  {p \in Seq(G.node) :
    p # <<>> /\ \A i \in 1..(Len(p) - 1) : <<p[i], p[i + 1]>> \in G.edge}
RECURSIVE Longer(_, _)
LOCAL Longer(G, paths) ==
  LET more == UNION {{Append(p, n) : n \in Successors(G, p[Len(p)]) \ ToSet(p)} : p \in paths}
  IN  IF more = {} THEN paths ELSE paths \cup Longer(G, more)
SimplePath(G) == Longer(G, {<<n>> : n \in G.node})

AreConnectedIn(m, n, G) ==
  /\ m \in G.node
  /\ n \in G.node
  /\ n \in Reached(G, {m})
IsStronglyConnected(G) == \A n \in G.node : Reached(G, {n}) = G.node
ConnectionsIn(G) ==
  LET reached == [n \in G.node |-> Reached(G, {n})]
  IN  [m, n \in G.node |-> n \in reached[m]]

IsTreeWithRoot(G, r) ==
  /\ IsDirectedGraph(G)
  /\ r \in G.node
  /\ \A e \in G.edge : e[1] # r /\ \A f \in G.edge : e[1] = f[1] => e = f
  /\ \A n \in G.node : r \in Reached(G, {n})
IsBipartiteWithPartitions(G, U, V) ==
  /\ U \cap V = {}
  /\ G.node \subseteq U \cup V
  /\ \A e \in G.edge : (e[1] \in U /\ e[2] \in V) \/ (e[1] \in V /\ e[2] \in U)

LOCAL Ways(G) ==
  TransitiveClosure([p \in G.node \X G.node |-> p \in G.edge], G.node)
Descendants(G, n) == LET ways == Ways(G) IN {m \in G.node : ways[n, m]}
Ancestors(G, n) == LET ways == Ways(G) IN {m \in G.node : ways[m, n]}
HasCycle(G) == \E n \in G.node : n \in Reached(G, Successors(G, n))
IsDag(G) == IsDirectedGraph(G) /\ ~HasCycle(G)
==============================================================================
